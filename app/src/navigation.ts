/** Where a person is in the app. Nothing of it is in the address: a reload asks the preferences. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Origin } from './origins/origin';

/** Pages of the settings. */
export const SETTINGS_PAGES = ['general', 'server', 'goal', 'notifications', 'language'] as const;
export type SettingsPage = (typeof SETTINGS_PAGES)[number];

export type Place =
  | { kind: 'session'; id: string }
  /** A session that does not exist yet. `null`: no folder is chosen. */
  | { kind: 'draft'; directory: string | null };

/** What a sheet shows where there is no room beside the conversation. */
export type Sheet = 'sessions' | 'status';

export interface Navigation {
  place: Place;
  /** Over the place. */
  overlay:
    | null
    | { kind: 'settings'; page: SettingsPage }
    | { kind: 'palette' }
    | { kind: 'shortcuts' }
    /** A new session from something. */
    | { kind: 'origin'; origin: Origin };
  /** The sidebar or the work status as a sheet, in narrow windows. */
  sheet: Sheet | null;
}

export const navigation = createStore<Navigation>(() => ({
  place: { kind: 'draft', directory: null },
  overlay: null,
  sheet: null,
}));

export function useNavigation<T>(select: (state: Navigation) => T): T {
  return useStore(navigation, select);
}

export function openSession(id: string): void {
  navigation.setState({ place: { kind: 'session', id }, overlay: null, sheet: null });
}

export function openDraft(directory: string | null): void {
  navigation.setState({ place: { kind: 'draft', directory }, overlay: null, sheet: null });
}

export function openSettings(page: SettingsPage = 'general'): void {
  navigation.setState({ overlay: { kind: 'settings', page }, sheet: null });
}

export function openPalette(): void {
  navigation.setState({ overlay: { kind: 'palette' }, sheet: null });
}

export function openShortcuts(): void {
  navigation.setState({ overlay: { kind: 'shortcuts' }, sheet: null });
}

export function openOrigin(origin: Origin): void {
  navigation.setState({ overlay: { kind: 'origin', origin }, sheet: null });
}

export function closeOverlay(): void {
  navigation.setState({ overlay: null });
}

export function showSheet(sheet: Sheet | null): void {
  navigation.setState({ sheet });
}
