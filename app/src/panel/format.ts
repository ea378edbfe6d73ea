/** Numbers of the work status in the language of the page. */
import { shortNumber } from 'tauri-plugin-goal-api';
import { useTranslation } from 'react-i18next';

export interface Formats {
  /** 950, 3.4K, 34K, 1.2M. */
  tokens: (count: number) => string;
  /** US dollars; what is less than a cent says so. */
  cost: (dollars: number) => string;
  percent: (whole: number) => string;
  /** A whole number, with its digits grouped. */
  count: (whole: number) => string;
}

const CENT = 0.01;

export function useFormats(): Formats {
  const { t, i18n } = useTranslation('panel');
  const locale = i18n.language;
  const dollars = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
  });
  const percent = new Intl.NumberFormat(locale, { style: 'percent' });
  const count = new Intl.NumberFormat(locale);
  return {
    tokens: (tokens) => {
      const { digits, unit } = shortNumber(Math.max(0, Math.round(tokens)), locale);
      return unit === 'one' ? digits : t(`unit.${unit}`, { n: digits });
    },
    cost: (cost) =>
      cost > 0 && cost < CENT ? t('lessThan', { amount: dollars.format(CENT) }) : dollars.format(cost),
    percent: (whole) => percent.format(whole / 100),
    count: (whole) => count.format(whole),
  };
}
