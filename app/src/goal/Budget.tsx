import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useKit } from 'tauri-plugin-goal-api/react';

import { FIELD } from '../settings/rows';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { useLeaving } from '../ui/leaving';

/** What the fields offer; the plugin takes any whole number from 1 on. */
export const BUDGET_MIN = 1_000;
export const BUDGET_MAX = 100_000_000;
const BUDGET_STEP = 50_000;
const MORE = 100_000;

/** The budget that a text names, or `null`. */
export function budgetOf(text: string): number | null {
  const tokens = /^\d+$/.test(text) ? Number(text) : NaN;
  return tokens >= BUDGET_MIN && tokens <= BUDGET_MAX ? tokens : null;
}

interface BudgetFieldProps {
  tokens: number;
  set: (tokens: number) => void;
  disabled?: boolean;
}

/** How many tokens: kept when the field is left or goes, and only what can be a budget. */
export function BudgetField({ tokens, set, disabled = false }: BudgetFieldProps): ReactNode {
  const { t, i18n } = useTranslation('goal');
  const { words } = useKit();
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const wrong = typed !== null && budgetOf(typed) === null;
  const leave = (): void => {
    const named = typed === null ? null : budgetOf(typed);
    if (named !== null && named !== tokens) set(named);
    if (!wrong) setTyped(null);
  };
  useLeaving(leave);
  const more = words.tokens(MORE);
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <div>
      <div className="flex items-center gap-2">
        <div className="w-36">
          <input
            type="number"
            inputMode="numeric"
            min={BUDGET_MIN}
            max={BUDGET_MAX}
            step={BUDGET_STEP}
            value={typed ?? String(tokens)}
            disabled={disabled}
            aria-label={t('budget.amount')}
            aria-invalid={wrong}
            aria-describedby={wrong ? id : undefined}
            className={classes(FIELD, 'tabular-nums', wrong && 'border-bad')}
            onChange={(event) => {
              setTyped(event.target.value);
            }}
            onBlur={leave}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              leave();
            }}
          />
        </div>
        <Button
          disabled={disabled || tokens >= BUDGET_MAX}
          aria-label={words.say('dialog.moreLabel', { n: more })}
          onClick={() => {
            setTyped(null);
            set(Math.min(BUDGET_MAX, tokens + MORE));
          }}
        >
          {words.say('dialog.more', { n: more })}
        </Button>
      </div>
      {wrong && (
        <p id={id} role="alert" className="mt-1 text-label text-bad">
          {t('budget.range', { min: number.format(BUDGET_MIN), max: number.format(BUDGET_MAX) })}
        </p>
      )}
    </div>
  );
}
