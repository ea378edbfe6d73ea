/** The kit's texts in the page's language. */
import { createWords, type Messages, type Words } from 'tauri-plugin-goal-api';
import fr from 'tauri-plugin-goal-api/locales/fr.json';

interface Language {
  locale: string;
  messages: Partial<Messages>;
}

const ENGLISH: Language = { locale: 'en', messages: {} };
const FRENCH: Language = { locale: 'fr', messages: fr };

export function languageOf(language: string): Language {
  return language === 'fr' ? FRENCH : ENGLISH;
}

export function wordsOf(language: string): Words {
  return createWords(languageOf(language));
}
