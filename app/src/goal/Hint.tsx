import { TriangleAlert } from 'lucide-react';
import { Popover, Switch } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { errorText, GoalError, goalStore, OBJECTIVE_MAX } from 'tauri-plugin-goal-api';
import { GoalGlyph, useKit } from 'tauri-plugin-goal-api/react';

import { changeDraft, drafts, useDraft } from '../drafts';
import { openSettings } from '../navigation';
import { Popup } from '../ui/Popup';
import { useArmed } from './arming';
import { useAuditor } from './auditor';
import { BudgetField } from './Budget';
import type { PlaceProps } from './Target';

/** Above the composer's text while armed: who will judge, what it may cost, and what stands in the way. */
export function ArmedHint(props: PlaceProps): ReactNode {
  const armed = useArmed(props.sessionId, props.draft);
  return armed ? <Armed key={props.draft} {...props} /> : null;
}

function Armed({ sessionId, draft, directory }: PlaceProps): ReactNode {
  const { words } = useKit();
  const { budget } = useDraft(draft);
  const auditor = useAuditor(sessionId, directory);
  return (
    <div className="px-3 pt-2 text-label text-text-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="inline-flex items-center gap-1.5 font-medium text-accent">
          <GoalGlyph glyph="armed" />
          {words.say('composer.armed')}
        </span>
        <Budget draft={draft} budget={budget} />
        {auditor !== null && !(auditor instanceof GoalError) && (
          <span className="min-w-0 truncate">
            {words.say('dialog.willAudit', { model: auditor.model })}
          </span>
        )}
      </div>
      {auditor instanceof GoalError && <NoAuditor error={auditor} />}
      <Text draft={draft} />
    </div>
  );
}

/** Who will judge a goal that begins in a new session of a folder, or what stands in its way. */
export function Auditing({ directory }: { directory: string }): ReactNode {
  const { words } = useKit();
  const auditor = useAuditor(null, directory);
  if (auditor === null) return null;
  if (auditor instanceof GoalError) return <NoAuditor error={auditor} />;
  return <p className="mt-1 text-label text-text-2">{words.say('dialog.willAudit', { model: auditor.model })}</p>;
}

/** What is to be known of what was typed so far. */
function Text({ draft }: Pick<PlaceProps, 'draft'>): ReactNode {
  const { t, i18n } = useTranslation('goal');
  const { text } = useDraft(draft);
  const limit = new Intl.NumberFormat(i18n.language).format(OBJECTIVE_MAX);
  return (
    <div role="status">
      {text.length > OBJECTIVE_MAX && (
        <p className="mt-1">{t('armed.long', { limit })}</p>
      )}
    </div>
  );
}

/** Why a goal cannot start here, and where to set that right. */
function NoAuditor({ error }: { error: GoalError }): ReactNode {
  const { t } = useTranslation('goal');
  const { words } = useKit();
  const missing = error.code === 'noAuditor';
  return (
    <p role="alert" className="mt-1 flex items-start gap-1.5 text-bad">
      <TriangleAlert size={14} aria-hidden className="mt-px shrink-0" />
      <span className="min-w-0 break-words">
        {missing ? t('armed.noAuditor') : t('armed.auditorUnknown', { reason: errorText(error, words) })}{' '}
        {missing && (
          <button
            type="button"
            className="font-medium underline underline-offset-2"
            onClick={() => {
              openSettings('goal');
            }}
          >
            {t('armed.choose')}
          </button>
        )}
      </span>
    </p>
  );
}

/** What the goal may spend: a word of it, and where to change that. */
function Budget({ draft, budget }: { draft: string; budget: number | null }): ReactNode {
  const { t } = useTranslation('goal');
  const { words } = useKit();
  const id = useId();
  const usual = goalStore().settings()?.settings.sessionGoalDefaultBudget ?? 200_000;
  return (
    <Popover.Root>
      <Popover.Trigger className="rounded-full border border-control px-2 hover:bg-raised hover:text-text">
        {budget === null ? t('budget.none') : t('budget.of', { tokens: words.tokens(budget) })}
      </Popover.Trigger>
      <Popup
        label={t('budget.title')}
        className="grid gap-2 p-3 text-ui text-text"
      >
        <div className="flex items-center gap-2">
          <Switch.Root
            id={id}
            checked={budget !== null}
            className="goal-switch"
            onCheckedChange={(on) => {
              changeDraft(draft, { budget: on ? usual : null });
            }}
          >
            <Switch.Thumb className="goal-switch-thumb" />
          </Switch.Root>
          <label htmlFor={id} className="font-medium">
            {t('budget.title')}
          </label>
        </div>
        {budget !== null && (
          <BudgetField
            tokens={budget}
            set={(tokens) => {
              // What the field says when it goes brings back no budget that was switched off.
              if (drafts.getState()[draft]?.budget != null) changeDraft(draft, { budget: tokens });
            }}
          />
        )}
        <p className="max-w-64 text-label text-text-2">{t('budget.about')}</p>
      </Popup>
    </Popover.Root>
  );
}
