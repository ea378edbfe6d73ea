/** The app's preferences: kept by the host, the same in every window. */
import { listen } from '@tauri-apps/api/event';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { EVENTS, type Preferences } from './host/contract';
import * as host from './host/host';

/** What holds until the host has answered, and where a preference was never set. */
export const DEFAULTS: Preferences = {
  theme: 'system',
  language: 'system',
  sidebarWidth: 264,
  sidebarOpen: true,
  panelOpen: false,
  panelWidth: 320,
  keepRunning: true,
  closeHintSeen: false,
  autostart: false,
  expandReasoning: false,
  expandTools: false,
  sendWithEnter: true,
  lastDirectory: null,
  lastSession: null,
  collapsedProjects: [],
  model: null,
  agent: null,
  seen: {},
};

export const preferences = createStore<Preferences>(() => DEFAULTS);

export function usePreference<K extends keyof Preferences>(key: K): Preferences[K] {
  return useStore(preferences, (all) => all[key]);
}

/** Reads them and follows what other windows change. */
export async function loadPreferences(): Promise<void> {
  await listen<Preferences>(EVENTS.preferences, ({ payload }) => {
    preferences.setState(payload, true);
  });
  preferences.setState(await host.preferences(), true);
}

/** Shown at once; where the host refuses it, what was before holds again and the refusal is thrown. */
export async function setPreferences(patch: Partial<Preferences>): Promise<void> {
  const before = preferences.getState();
  preferences.setState(patch);
  try {
    await host.preferencesSet(patch);
  } catch (refused) {
    const undone = Object.fromEntries(
      Object.keys(patch).map((key) => [key, before[key as keyof Preferences]]),
    );
    preferences.setState(undone);
    throw refused;
  }
}
