import { LoaderCircle } from 'lucide-react';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useEnabled } from 'tauri-plugin-goal-api/react';
import { useStore } from 'zustand';

import { chosen, useChoice, type Choice } from '../composer/choice';
import { isComposing, isSend, withCommand } from '../composer/keys';
import { Pickers } from '../composer/Pickers';
import { promptBreaks } from '../fields';
import { Auditing } from '../goal';
import type { Models } from '../host/contract';
import { leadingAgents, useModels } from '../models';
import { useNavigation } from '../navigation';
import { useBranch } from '../server/branch';
import { Refusal } from '../settings/rows';
import { shortName } from '../sidebar/groups';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Instructions, Preview, Toggle } from './Fields';
import type { Origin } from './origin';
import { PlanField } from './PlanField';
import { useBegin, type Begin } from './useBegin';
import { usePlans } from './usePlan';
import { openingOfAnswer, openingOfPlan, type Opening } from './words';

/** A new session from an answer or from a plan. */
export function OriginDialog(): ReactNode {
  const overlay = useNavigation((state) => state.overlay);
  const origin = overlay?.kind === 'origin' ? overlay.origin : null;
  switch (origin?.kind) {
    case 'answer':
      return <FromAnswer origin={origin} />;
    case 'plan':
      return <FromPlan origin={origin} />;
    case undefined:
      return null;
  }
}

function FromAnswer({ origin }: { origin: Extract<Origin, { kind: 'answer' }> }): ReactNode {
  const { t } = useTranslation('origins');
  const [goal, setGoal] = useState(false);
  // `null`: as they are proposed, which depends on what they are for.
  const [written, setWritten] = useState<string | null>(null);
  const usual = t(goal ? 'answer.assignment' : 'answer.reportBack');
  const instructions = written ?? usual;
  const fine = promptBreaks(instructions) === null && promptBreaks(origin.text) === null;
  return (
    <Form
      origin={origin}
      title={t('answer.title')}
      goal={goal}
      setGoal={setGoal}
      opening={fine ? () => openingOfAnswer(instructions, origin.text) : null}
    >
      <Preview label={t('answer.answer')} text={origin.text} />
      <Instructions text={instructions} set={(text) => { setWritten(text === usual ? null : text); }} />
    </Form>
  );
}

function FromPlan({ origin }: { origin: Extract<Origin, { kind: 'plan' }> }): ReactNode {
  const { t } = useTranslation('origins');
  const [goal, setGoal] = useState(false);
  const plans = usePlans(origin);
  const { plan } = plans;
  const fine = plan !== null && promptBreaks(plan.content) === null;
  return (
    <Form
      origin={origin}
      title={t('plan.title')}
      goal={goal}
      setGoal={setGoal}
      opening={fine ? () => openingOfPlan(plan) : null}
    >
      <PlanField plans={plans} />
    </Form>
  );
}

interface FormProps {
  origin: Origin;
  title: string;
  goal: boolean;
  setGoal: (goal: boolean) => void;
  /** What it begins with; `null`: something is missing. */
  opening: (() => Opening) | null;
  children: ReactNode;
}

function Form({ origin, title, goal, setGoal, opening, children }: FormProps): ReactNode {
  const { t } = useTranslation('origins');
  const { directory, sessionId } = origin;
  const key = `origin:${origin.kind}:${sessionId ?? directory}`;
  const models = useModels(directory);
  const choice = useOriginChoice(key, origin, models);
  const isGit = useBranch(directory) !== undefined;
  const goalsOn = useEnabled();
  const [worktree, setWorktree] = useState(false);
  const begin = useBegin();
  const asGoal = goal && goalsOn;
  const submit = (): void => {
    if (opening === null || begin.starting) return;
    void begin.run({ ...opening(), ...choice, directory, goal: asGoal, worktree: worktree && isGit });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent) || !isSend(event, false)) return;
    event.preventDefault();
    submit();
  };
  return (
    <Dialog open onClose={begin.close} title={title} description={t('in', { folder: shortName(directory) })} width={560}>
      <div className="flex min-h-0 flex-col" onKeyDown={onKeyDown}>
        <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-4 pt-1 pb-2">
          {children}
          <div className="@container -ml-2 flex">
            <Pickers draftKey={key} models={models} choice={choice} inDialog />
          </div>
          <div className="border-t border-border">
            {goalsOn && (
              <Toggle label={t('goal.label')} about={t('goal.about')} on={goal} set={setGoal}>
                {asGoal && <Auditing directory={directory} />}
              </Toggle>
            )}
            <Toggle
              label={t('worktree.label')}
              about={t(isGit ? 'worktree.about' : 'worktree.noGit')}
              on={worktree && isGit}
              set={setWorktree}
              disabled={!isGit}
            />
          </div>
          <Refusal text={begin.failure} />
        </div>
        <Foot
          begin={begin}
          possible={opening !== null}
          goal={asGoal}
          submit={submit}
          // Where there is a text to write, that has it.
          focus={origin.kind === 'plan'}
        />
      </div>
    </Dialog>
  );
}

/** The agent that plans implements nothing: where nobody chose it for this, another one is proposed. */
function useOriginChoice(key: string, { kind, sessionId }: Origin, models: Models | null): Choice {
  const choice = useChoice(key, sessionId, models);
  const picked = useStore(chosen, (all) => all[key]?.agent);
  if (kind !== 'plan' || picked != null || choice.agent !== 'plan') return choice;
  const other = leadingAgents(models).find(({ name }) => name !== 'plan');
  return { ...choice, agent: other?.name ?? null };
}

interface FootProps {
  begin: Begin;
  possible: boolean;
  goal: boolean;
  submit: () => void;
  /** The focus is here when it opens. */
  focus: boolean;
}

function Foot({ begin: { starting, close }, possible, goal, submit, focus }: FootProps): ReactNode {
  const { t } = useTranslation(['origins', 'common']);
  return (
    <footer className="flex items-center justify-end gap-2 border-t border-border px-4 py-3">
      <p className="hidden min-w-0 flex-1 truncate text-label text-text-3 frame:block">{t('hint', { keys: withCommand('Enter') })}</p>
      <Button onClick={close} autoFocus={focus}>{t('common:cancel')}</Button>
      <Button kind="primary" className="min-w-28" disabled={!possible || starting} aria-busy={starting} onClick={submit}>
        {starting && <LoaderCircle size={16} aria-label={t('starting')} className="animate-spin" />}
        {!starting && t(goal ? 'submit.goal' : 'submit.session')}
      </Button>
    </footer>
  );
}
