import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { App } from './App';
import { loadDrafts } from './drafts';
import { languageOf, startI18n } from './i18n';
import { loadPreferences, preferences } from './preferences';
import { followTheme } from './theme';

/** Shows the page. */
export async function begin(): Promise<void> {
  if (import.meta.env.VITE_MOCK === '1') {
    const { install } = await import('../browser/mock');
    install();
  }
  // A page that cannot read them is still a page.
  await Promise.allSettled([loadPreferences(), loadDrafts()]);
  followTheme();
  await startI18n(languageOf(preferences.getState().language));
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no #root');
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
