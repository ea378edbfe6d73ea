/** Light or dark on the root element, for this page's colours and the goals' kit alike. */
import { preferences } from './preferences';

const DARK = '(prefers-color-scheme: dark)';

/** Follows the preference and, where that says so, the system. Returns what ends it. */
export function followTheme(): () => void {
  const system = window.matchMedia(DARK);
  const set = (): void => {
    const { theme } = preferences.getState();
    const dark = theme === 'dark' || (theme === 'system' && system.matches);
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
  };
  set();
  system.addEventListener('change', set);
  const unsubscribe = preferences.subscribe(set);
  return () => {
    system.removeEventListener('change', set);
    unsubscribe();
  };
}
