import { useState, type CSSProperties, type ReactNode } from 'react';

import { describe, present, type Control, type Presentation } from '../presentation.js';
import type { GoalView, ServerStatus } from '../types.js';
import { useGoalActions, type GoalActions } from './actions.js';
import { Failure } from './Failure.js';
import { GoalDialog } from './GoalDialog.js';
import { GoalGlyph } from './GoalGlyph.js';
import { pulseOf, useEnabled, useGoal, useNow, useServer } from './hooks.js';
import { useKit } from './kit.js';
import { Tip } from './Tip.js';

/** What a strip is about. */
export interface GoalStripProps {
  sessionId: string;
  /**
   * Opens the page's own dialog; `raise`: to raise a spent budget. Left out: the strip opens a
   * {@link GoalDialog}.
   */
  onManage?: ((raise: boolean) => void) | undefined;
  /** Shows the permission request or question that waits. Left out: the strip offers Pause. */
  onAnswer?: ((goal: GoalView) => void) | undefined;
  /** The name of a sub-agent by its session's id, where the page knows it. */
  subagentName?: ((sessionId: string) => string | undefined) | undefined;
  /** More to say beside the usage, such as what it cost. */
  facts?: string | undefined;
}

/**
 * The line above the composer: what the goal is about, what it does, what it used, and the one
 * thing to do about it. Nothing where there is no goal or goals are switched off.
 *
 * @example
 * ```tsx
 * import { GoalStrip } from 'tauri-plugin-goal-api/react';
 *
 * const strip = <GoalStrip sessionId="ses_3f2a9c" onAnswer={() => location.assign('#requests')} />;
 * ```
 */
export function GoalStrip(props: GoalStripProps): ReactNode {
  const { goal, objective } = useGoal(props.sessionId);
  const enabled = useEnabled();
  if (!goal || !enabled) return null;
  // Of its own, so that what one goal left behind (a failure, an open dialog) ends with it.
  return <Strip key={goal.goalId} {...props} goal={goal} objective={objective} />;
}

interface StripProps extends GoalStripProps {
  goal: GoalView;
  objective: string | null | undefined;
}

function Strip({ goal, objective, onManage, onAnswer, subagentName, facts }: StripProps): ReactNode {
  const { words } = useKit();
  const server = useServer();
  const actions = useGoalActions(goal.sessionId);
  const [dialog, setDialog] = useState<'closed' | 'open' | 'raise'>('closed');
  const look = present(goal);
  const now = useNow(pulseOf(goal));
  const subagent = goal.phase === 'waitingForSubagent' ? subagentName?.(goal.detail) : undefined;
  const told = describe(goal, words, now, subagent);

  const manage = (raise: boolean) => {
    if (onManage) onManage(raise);
    else setDialog(raise ? 'raise' : 'open');
  };
  const usage = [told.usage, facts].filter(Boolean).join(' · ');
  const control = controlOf(look, server, onAnswer !== undefined);
  // A missing objective is what the line tells; one that is elsewhere is no fault.
  const elsewhere = objective === null && goal.phase !== 'objectiveMissing';
  const whole = objective ?? (elsewhere ? words.say('strip.noText') : '');
  return (
    <div
      className="goal-strip"
      role="group"
      data-tone={look.tone}
      data-phase={goal.phase}
      data-status={goal.status}
      data-needs-you={look.needsYou}
      aria-label={words.say('strip.label')}
    >
      <About
        look={look}
        whole={whole}
        text={told.text || whole || goal.title}
        onPress={() => {
          manage(false);
        }}
      />
      <span className="goal-strip-line" title={told.line}>
        {told.line}
      </span>
      {usage !== '' && <span className="goal-strip-usage">{usage}</span>}
      <button
        type="button"
        className="goal-action"
        disabled={actions.pending}
        onClick={() => {
          perform(control, goal, actions, { manage, onAnswer });
        }}
      >
        {words.say(`control.${control}`)}
      </button>
      {look.motion === 'window' && goal.next !== null && (
        <Window key={`${String(goal.since)} ${String(goal.next)}`} since={goal.since} next={goal.next} />
      )}
      <span className="goal-hidden" role="status">
        {told.name}
      </span>
      <Failure text={actions.failure} onDismiss={actions.dismiss} />
      {!onManage && (
        <GoalDialog
          sessionId={goal.sessionId}
          open={dialog !== 'closed'}
          raise={dialog === 'raise'}
          onOpenChange={(open) => {
            setDialog(open ? 'open' : 'closed');
          }}
        />
      )}
    </div>
  );
}

interface AboutProps {
  look: Presentation;
  text: string;
  whole: string;
  onPress: () => void;
}

/** What the goal is about, in one line; the whole objective on hover and focus. */
function About({ look, text, whole, onPress }: AboutProps): ReactNode {
  return (
    <Tip text={whole}>
      <button type="button" className="goal-strip-main" aria-haspopup="dialog" onClick={onPress}>
        <GoalGlyph glyph={look.glyph} />
        <span className="goal-strip-text">{text}</span>
      </button>
    </Tip>
  );
}

/** The hairline that empties with the quiet window. */
function Window({ since, next }: { since: number; next: number }): ReactNode {
  // Fixed at the first picture: the animation runs by itself from there.
  const [style] = useState<CSSProperties>(() => ({
    animationDuration: `${String(Math.max(0, next - since))}ms`,
    animationDelay: `${String(Math.min(0, since - Date.now()))}ms`,
  }));
  return <span className="goal-strip-window" style={style} aria-hidden="true" />;
}

/** The table's control, where the page and the state of things allow it; else Pause. */
function controlOf(
  { control }: Presentation,
  server: ServerStatus | undefined,
  answers: boolean,
): Control {
  if (control === 'answer') return answers ? control : 'pause';
  // A server that is reached has nothing to be tried again: only one of its answers failed.
  const away = server?.state === 'away' || server?.state === 'failed';
  return control === 'retry' && !away ? 'pause' : control;
}

interface Ways {
  manage(raise: boolean): void;
  onAnswer: ((goal: GoalView) => void) | undefined;
}

function perform(control: Control, goal: GoalView, actions: GoalActions, ways: Ways): void {
  switch (control) {
    case 'pause':
      void actions.pause();
      return;
    case 'resume':
    case 'continue':
      void actions.resume();
      return;
    case 'answer':
      ways.onAnswer?.(goal);
      return;
    case 'retry':
      void actions.retry();
      return;
    case 'raise':
      ways.manage(true);
      return;
    case 'edit':
      ways.manage(false);
      return;
    case 'remove':
      void actions.clear();
      return;
  }
}
