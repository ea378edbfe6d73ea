/** Which parts of the frame have room beside the conversation, and how they are shown and hidden. */
import { useSyncExternalStore } from 'react';

import { navigation, showSheet, type Sheet } from '../navigation';
import { preferences, setPreferences } from '../preferences';

/** CSS pixels; the same as the breakpoint `frame` of styles.css. */
const NARROW = 720;

/** The conversation is never squeezed below this for the work status. */
const CHAT_MIN = 440;

function isNarrow(): boolean {
  return window.innerWidth < NARROW;
}

/** Whether the work status has room beside the conversation. */
function hasRoom(): boolean {
  const { sidebarOpen, sidebarWidth, panelWidth } = preferences.getState();
  const sidebar = sidebarOpen ? sidebarWidth : 0;
  return !isNarrow() && window.innerWidth - sidebar - panelWidth >= CHAT_MIN;
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('resize', changed);
  const unsubscribe = preferences.subscribe(changed);
  return () => {
    window.removeEventListener('resize', changed);
    unsubscribe();
  };
}

/** Whether the sidebar is a sheet. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, isNarrow);
}

export function useHasRoom(): boolean {
  return useSyncExternalStore(subscribe, hasRoom);
}

function toggleSheet(sheet: Sheet): void {
  showSheet(navigation.getState().sheet === sheet ? null : sheet);
}

export async function toggleSidebar(): Promise<void> {
  if (isNarrow()) toggleSheet('sessions');
  else await setPreferences({ sidebarOpen: !preferences.getState().sidebarOpen });
}

/** Shows the sidebar, wherever it shows. */
export async function showSidebar(): Promise<void> {
  if (isNarrow()) showSheet('sessions');
  else if (!preferences.getState().sidebarOpen) await setPreferences({ sidebarOpen: true });
}

export async function togglePanel(): Promise<void> {
  if (hasRoom()) await setPreferences({ panelOpen: !preferences.getState().panelOpen });
  else toggleSheet('status');
}
