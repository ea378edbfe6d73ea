import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { findModel, useModels } from '../models';
import type { Session } from '../server/state';
import { allOf, costOf, tokensOf } from './figures';
import { useFormats } from './format';
import { Fact, Section } from './Section';

/** What a session and its sub-agents have cost so far. */
export function Usage({ session, below }: { session: Session; below: readonly Session[] }): ReactNode {
  const { t } = useTranslation('panel');
  const { tokens, cost } = useFormats();
  const models = useModels(session.directory);
  const spent = useMemo(() => tokensOf([session, ...below]), [session, below]);
  const all = allOf(spent);
  const own = costOf([session]);
  const others = costOf(below);
  const model = session.model && findModel(models, session.model.providerID, session.model.id);
  // Without a price nothing can be counted, and "$0.00" would be wrong.
  const priced = own + others > 0 || model?.cost !== null;
  if (all === 0 && own + others === 0) return null;
  const kinds = (['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite'] as const).filter(
    (kind) => spent[kind] > 0,
  );
  return (
    <Section
      name="usage"
      title={t('usage.title')}
      summary={priced ? cost(own + others) : t('usage.tokens', { n: tokens(all) })}
    >
      <dl className="flex flex-col gap-0.5">
        {priced ? (
          below.length > 0 && (
            <>
              <Fact name={t('usage.session')}>{cost(own)}</Fact>
              <Fact name={t('usage.subAgents')}>{cost(others)}</Fact>
            </>
          )
        ) : (
          <Fact name={t('usage.cost')}>{t('usage.noPrice')}</Fact>
        )}
        <Fact name={t('usage.all')}>{tokens(all)}</Fact>
        {kinds.map((kind) => (
          <Fact key={kind} part name={t(`usage.${kind}`)}>
            {tokens(spent[kind])}
          </Fact>
        ))}
      </dl>
    </Section>
  );
}
