import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { MenuPicker } from '../composer/MenuPicker';
import { promptBreaks } from '../fields';
import { PLANS } from '../server/plans';
import { Button } from '../ui/Button';
import { useFailureText } from '../ui/toasts';
import { Preview } from './Fields';
import type { Plans } from './usePlan';

/** Which plan, and how it begins. */
export function PlanField({ plans }: { plans: Plans }): ReactNode {
  const { t } = useTranslation('origins');
  const { items, value, pick, plan } = plans;
  const broken = plan === null ? null : promptBreaks(plan.content);
  return (
    <div className="flex flex-col gap-2">
      {items.length > 1 && value !== null && (
        <div className="-ml-2 flex">
          <MenuPicker label={t('plan.which')} value={value} items={items} onPick={pick} />
        </div>
      )}
      {plan === null ? <NoPlan plans={plans} /> : <Preview label={plan.title} text={plan.content} />}
      {plan?.path != null && <p className="truncate font-mono text-label text-text-3">{plan.path}</p>}
      {broken !== null && (
        <p role="alert" className="text-label text-bad">{t(`rule.${broken}`, { field: t('plan.field') })}</p>
      )}
    </div>
  );
}

function NoPlan({ plans: { failure, loading, again } }: { plans: Plans }): ReactNode {
  const { t } = useTranslation(['origins', 'common']);
  const text = useFailureText();
  if (loading) return <p role="status" className="text-ui text-text-2">{t('common:loading')}</p>;
  if (failure === null) return <p className="text-ui text-text-2">{t('plan.none', { folder: PLANS })}</p>;
  return (
    <div role="alert" className="flex items-center gap-3 text-ui text-bad">
      <span className="min-w-0 flex-1 break-words">{text(failure.thrown)}</span>
      <Button onClick={again}>{t('common:retry')}</Button>
    </div>
  );
}
