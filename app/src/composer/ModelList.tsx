import { Command } from 'cmdk';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { Model, ModelChoice, Models } from '../host/contract';

/** All models by provider, with price and context, to be searched. */
export function ModelList({ models, chosen, onPick }: {
  models: Models;
  chosen: ModelChoice | null;
  onPick: (model: ModelChoice) => void;
}): ReactNode {
  const { t } = useTranslation('composer');
  return (
    <Command label={t('model.label')} loop className="flex min-h-0 flex-col">
      <Command.Input
        placeholder={t('model.search')}
        className="h-9 shrink-0 border-b border-border bg-transparent px-3 text-ui outline-none placeholder:text-text-3"
      />
      <Command.List label={t('model.label')} className="min-h-0 flex-1 overflow-y-auto p-1">
        <Command.Empty className="px-2 py-3 text-ui text-text-2">{t('model.none')}</Command.Empty>
        {models.providers.map((provider) => (
          <Command.Group
            key={provider.id}
            heading={provider.name}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-label [&_[cmdk-group-heading]]:text-text-3"
          >
            {provider.models.map((model) => (
              <Command.Item
                key={model.id}
                value={`${provider.id}/${model.id}`}
                keywords={[model.name, provider.name]}
                onSelect={() => { onPick({ providerId: provider.id, modelId: model.id, variant: null }); }}
                className="flex items-center gap-2 rounded-control px-2 py-1.5 text-ui data-[selected=true]:bg-raised"
              >
                <span className="min-w-0 flex-1 truncate">{model.name}</span>
                <Facts model={model} />
                <Chosen here={chosen?.providerId === provider.id && chosen.modelId === model.id} />
              </Command.Item>
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

function Chosen({ here }: { here: boolean }): ReactNode {
  const { t } = useTranslation('composer');
  return (
    <span className="w-3.5 shrink-0">
      {here && <Check size={14} role="img" aria-label={t('model.chosen')} />}
    </span>
  );
}

/** Price in and out per million tokens, and how much the model reads at once. */
function Facts({ model: { cost, contextLimit } }: { model: Model }): ReactNode {
  const { t, i18n } = useTranslation('composer');
  const money = new Intl.NumberFormat(i18n.language, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 0,
    maximumFractionDigits: 2,
  });
  const tokens = new Intl.NumberFormat(i18n.language, { notation: 'compact', maximumFractionDigits: 1 });
  const price = (): string | null => {
    if (cost === null) return null;
    if (cost.input === 0 && cost.output === 0) return t('model.free');
    return t('model.price', { input: money.format(cost.input), output: money.format(cost.output) });
  };
  const context = contextLimit === null ? null : t('model.context', { tokens: tokens.format(contextLimit) });
  const facts = [price(), context].filter((one) => one !== null);
  return <span className="shrink-0 text-label text-text-2 tabular-nums">{facts.join(' · ')}</span>;
}
