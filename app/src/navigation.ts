/** Where a person is in the app. Nothing of it is in the address: a reload asks the preferences. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

/** Pages of the settings. */
export const SETTINGS_PAGES = ['general', 'server', 'goal', 'notifications', 'language'] as const;
export type SettingsPage = (typeof SETTINGS_PAGES)[number];

export type Place =
  | { kind: 'session'; id: string }
  /** A session that does not exist yet. `null`: no folder is chosen. */
  | { kind: 'draft'; directory: string | null };

export interface Navigation {
  place: Place;
  /** Over the place. */
  overlay: null | { kind: 'settings'; page: SettingsPage } | { kind: 'palette' } | { kind: 'shortcuts' };
  /** The sidebar as a sheet, in narrow windows. */
  sheet: boolean;
}

export const navigation = createStore<Navigation>(() => ({
  place: { kind: 'draft', directory: null },
  overlay: null,
  sheet: false,
}));

export function useNavigation<T>(select: (state: Navigation) => T): T {
  return useStore(navigation, select);
}

export function openSession(id: string): void {
  navigation.setState({ place: { kind: 'session', id }, overlay: null, sheet: false });
}

export function openDraft(directory: string | null): void {
  navigation.setState({ place: { kind: 'draft', directory }, overlay: null, sheet: false });
}

export function openSettings(page: SettingsPage = 'general'): void {
  navigation.setState({ overlay: { kind: 'settings', page } });
}

export function openPalette(): void {
  navigation.setState({ overlay: { kind: 'palette' } });
}

export function openShortcuts(): void {
  navigation.setState({ overlay: { kind: 'shortcuts' } });
}

export function closeOverlay(): void {
  navigation.setState({ overlay: null });
}

export function showSheet(sheet: boolean): void {
  navigation.setState({ sheet });
}
