import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { timeOf } from '../chat/format';
import { languageOf } from '../i18n';
import { setPreferences, usePreference } from '../preferences';
import { Choice, Row } from './rows';
import { useSave } from './save';

/** Each language in its own words: whoever looks for theirs finds it. */
const NAMES = { en: 'English', fr: 'Français' } as const;

/** The language of the app, and what dates and numbers look like in it. */
export function Language(): ReactNode {
  const { t } = useTranslation('settings');
  const language = usePreference('language');
  const { refusal, save } = useSave();
  const options = [
    { value: 'system' as const, label: t('languageSystem', { name: NAMES[languageOf('system')] }) },
    { value: 'en' as const, label: NAMES.en },
    { value: 'fr' as const, label: NAMES.fr },
  ];
  const set = (chosen: (typeof options)[number]['value']): void => {
    void save(() => setPreferences({ language: chosen }));
  };
  return (
    <>
      <Row
        id="language"
        refusal={refusal}
        control={(names) => (
          <Choice {...names} value={language} options={options} set={set} />
        )}
      />
      <Row id="formats">
        <Formats />
      </Row>
    </>
  );
}

/** A moment in a past year and in the afternoon, so that nothing of a format stays hidden. */
const SAMPLE = new Date(2026, 1, 3, 14, 5);

function Formats(): ReactNode {
  const { t, i18n } = useTranslation('settings');
  const locale = i18n.language;
  const rows = [
    [t('format.date'), new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(SAMPLE)],
    [t('format.time'), timeOf(SAMPLE.getTime(), locale)],
    [t('format.number'), new Intl.NumberFormat(locale).format(1_234_567.8)],
    [
      t('format.cost'),
      new Intl.NumberFormat(locale, {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
      }).format(1234.5),
    ],
  ] as const;
  return (
    <dl className="mt-2 grid max-w-md grid-cols-[auto_1fr] gap-x-6 gap-y-1 rounded-control bg-raised px-3 py-2">
      {rows.map(([name, sample]) => (
        <div key={name} className="contents">
          <dt className="text-text-2">{name}</dt>
          <dd className="tabular-nums">{sample}</dd>
        </div>
      ))}
    </dl>
  );
}
