/** Whether the welcome stands in place of the conversation. */
import { useServer as useLine } from 'tauri-plugin-goal-api/react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { useNavigation } from '../navigation';
import { usePreference } from '../preferences';
import { useServer } from '../server/store';

const passed = createStore(() => ({ passed: false }));

/** The person has seen it and goes on. */
export function passWelcome(): void {
  passed.setState({ passed: true });
}

/** What only a person can change: the app does not get further by itself. */
const HOPELESS: readonly unknown[] = ['openCodeMissing', 'notOpenCode', 'unauthorized', 'dataFolder'];

/**
 * On the first run until a folder or a session is chosen; later where only a person can help, or where nothing was ever
 * read from a server, so that the app is never empty without a word.
 */
export function useWelcomeNeeded(): boolean {
  const line = useLine();
  const isEmpty = useServer((state) => state.listing !== 'ready');
  const wasPassed = useStore(passed, (state) => state.passed);
  const isFirst = usePreference('lastSession') === null;
  const hasFolder = usePreference('lastDirectory') !== null;
  const isSomewhere = useNavigation(
    ({ place }) => place.kind === 'session' || place.directory !== null,
  );
  if (line !== undefined && (line.state === 'none' || HOPELESS.includes(line.code))) return true;
  if (isEmpty && line?.state === 'failed') return true;
  return isFirst && !hasFolder && !isSomewhere && !wasPassed;
}
