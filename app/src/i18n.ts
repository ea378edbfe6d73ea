/** Texts in the language of the preferences or of the system. Each area of the page has a file of its own. */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

import en from './locales/en';
import fr from './locales/fr';

export const LANGUAGES = ['en', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language that is meant: the chosen one, else the first of the system's that we speak. */
export function languageOf(
  chosen: 'system' | Language,
  systems: readonly string[] = navigator.languages,
): Language {
  if (chosen !== 'system') return chosen;
  for (const system of systems) {
    const found = LANGUAGES.find((language) => system.toLowerCase().split('-')[0] === language);
    if (found !== undefined) return found;
  }
  return 'en';
}

export async function startI18n(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    resources: { en, fr },
    ns: Object.keys(en),
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  document.documentElement.lang = language;
}

export async function setLanguage(language: Language): Promise<void> {
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
