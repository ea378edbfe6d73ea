import { languageOf, setLanguage } from '../i18n';
import { preferences } from '../preferences';

/** Speaks the language of the preferences or of the system, whichever changes. Returns what ends it. */
export function followLanguage(): () => void {
  let spoken = languageOf(preferences.getState().language);
  const speak = (): void => {
    const meant = languageOf(preferences.getState().language);
    if (meant === spoken) return;
    spoken = meant;
    void setLanguage(meant);
  };
  const unsubscribe = preferences.subscribe(speak);
  window.addEventListener('languagechange', speak);
  return () => {
    unsubscribe();
    window.removeEventListener('languagechange', speak);
  };
}
