import { ChevronDown, SlidersHorizontal } from 'lucide-react';
import { Popover } from 'radix-ui';
import { memo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { ModelChoice, Models } from '../host/contract';
import { findModel } from '../models';
import { setPreferences } from '../preferences';
import { Dialog } from '../ui/Dialog';
import { Popup } from '../ui/Popup';
import { agentsFor, choose, type Choice } from './choice';
import { Chips } from './Chips';
import { TRIGGER } from './menu';
import { MenuPicker, type Item } from './MenuPicker';
import { ModelList } from './ModelList';

export interface PickersProps {
  draftKey: string;
  models: Models | null;
  choice: Choice;
  /** What it opens lies over a dialog: it scrolls by itself. */
  inDialog?: boolean;
}

interface Offer {
  agents: Item[];
  variants: Item[];
  modelName: string;
  pickAgent: (name: string) => void;
  pickModel: (model: ModelChoice) => void;
  pickVariant: (variant: string) => void;
}

/** Variant that is none. */
const USUAL = '';

/** What may be chosen; a choice holds for this place and is where the next new session begins. */
function useOffer({ draftKey, models, choice }: PickersProps): Offer {
  const { t } = useTranslation('composer');
  const { agent, model } = choice;
  const found = findModel(models, model?.providerId ?? '', model?.modelId ?? '');
  const variants = found?.variants ?? [];
  const pickModel = (picked: ModelChoice): void => {
    choose(draftKey, { model: picked });
    void setPreferences({ model: picked }).catch(() => null);
  };
  return {
    agents: agentsFor(models, agent).map(({ name, description }) => ({
      value: name,
      label: name,
      detail: description,
    })),
    variants: variants.length === 0 ? [] : [
      { value: USUAL, label: t('variant.usual'), detail: null },
      ...variants.map((name) => ({ value: name, label: name, detail: null })),
    ],
    modelName: found?.name ?? model?.modelId ?? t('model.choose'),
    pickAgent: (name) => {
      choose(draftKey, { agent: name });
      void setPreferences({ agent: name }).catch(() => null);
    },
    pickModel,
    pickVariant: (variant) => {
      if (model !== null) pickModel({ ...model, variant: variant === USUAL ? null : variant });
    },
  };
}

/** Agent, model and variant: side by side where there is room, else in one sheet. */
export const Pickers = memo(function Pickers(props: PickersProps): ReactNode {
  const offer = useOffer(props);
  return (
    <>
      <div className="hidden min-w-0 items-center @lg:flex">
        <Row {...props} offer={offer} />
      </div>
      <div className="flex min-w-0 @lg:hidden">
        <Sheet {...props} offer={offer} />
      </div>
    </>
  );
});

function Row({ models, choice, inDialog = false, offer }: PickersProps & { offer: Offer }): ReactNode {
  const { t } = useTranslation('composer');
  return (
    <>
      {offer.agents.length > 0 && (
        <MenuPicker label={t('agent')} value={choice.agent ?? ''} items={offer.agents} onPick={offer.pickAgent} />
      )}
      {models !== null && <ModelPicker {...{ models, choice, inDialog, offer }} />}
      {offer.variants.length > 0 && (
        <MenuPicker
          label={t('variant.label')}
          value={choice.model?.variant ?? USUAL}
          items={offer.variants}
          onPick={offer.pickVariant}
        />
      )}
    </>
  );
}

interface ModelPickerProps {
  models: Models;
  choice: Choice;
  inDialog: boolean;
  offer: Offer;
}

function ModelPicker({ models, choice, inDialog, offer }: ModelPickerProps): ReactNode {
  const { t } = useTranslation('composer');
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen} modal={inDialog}>
      <Popover.Trigger className={TRIGGER} aria-label={`${t('model.label')}: ${offer.modelName}`}>
        <span className="truncate">{offer.modelName}</span>
        <ChevronDown size={12} aria-hidden className="shrink-0" />
      </Popover.Trigger>
      <Popup
        label={t('model.label')}
        className="flex max-h-[min(420px,var(--radix-popover-content-available-height))] w-[min(440px,calc(100vw-16px))] flex-col overflow-hidden"
      >
        <ModelList
          models={models}
          chosen={choice.model}
          onPick={(model) => {
            offer.pickModel(model);
            setOpen(false);
          }}
        />
      </Popup>
    </Popover.Root>
  );
}

function Sheet({ models, choice, offer }: PickersProps & { offer: Offer }): ReactNode {
  const { t } = useTranslation('composer');
  const [open, setOpen] = useState(false);
  const shown = [choice.agent, offer.modelName, choice.model?.variant].filter((one) => one != null).join(', ');
  return (
    <>
      <button
        type="button"
        className={TRIGGER}
        aria-haspopup="dialog"
        aria-label={t('sheet.open', { choice: shown })}
        onClick={() => { setOpen(true); }}
      >
        <SlidersHorizontal size={14} aria-hidden className="shrink-0" />
        <span className="truncate">{offer.modelName}</span>
      </button>
      <Dialog open={open} onClose={() => { setOpen(false); }} title={t('sheet.title')}>
        <div className="flex min-h-0 flex-col">
          <div className="flex flex-col gap-3 px-4 pb-3">
            <Chips label={t('agent')} value={choice.agent ?? ''} items={offer.agents} onPick={offer.pickAgent} />
            <Chips
              label={t('variant.label')}
              value={choice.model?.variant ?? USUAL}
              items={offer.variants}
              onPick={offer.pickVariant}
            />
          </div>
          {models !== null && (
            <div className="flex min-h-0 flex-col border-t border-border">
              <ModelList models={models} chosen={choice.model} onPick={offer.pickModel} />
            </div>
          )}
        </div>
      </Dialog>
    </>
  );
}
