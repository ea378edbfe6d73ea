/** Saving one setting, and saying in words why that failed. */
import { settingsSet, type Settings } from 'tauri-plugin-goal-api';
import { useKit } from 'tauri-plugin-goal-api/react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

import { callError } from '../server/client';
import { useFailureText } from '../ui/toasts';

/** Codes that have words of their own here; the others have them in the whole page. */
const CODES = [
  'dataFolder',
  'ended',
  'invalidSetting',
  'notOpenCode',
  'openCodeMissing',
  'settingsUnwritable',
  'shuttingDown',
  'unauthorized',
  'unavailable',
  'unwritable',
] as const;

/** What was thrown, in the user's words: what happened, what still holds, what to do. */
export function useRefusalText(): (thrown: unknown) => string {
  const { t } = useTranslation('settings');
  const common = useFailureText();
  return (thrown) => {
    const failed = callError(thrown);
    const code = CODES.find((known) => known === failed.code);
    return code === undefined ? common(thrown) : t(`refused.${code}`, { detail: failed.message });
  };
}

export interface Save {
  /** Why the latest change was refused. */
  refusal: string | null;
  pending: boolean;
  /** Whether it was carried out. */
  save: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** Saves, and keeps the refusal for the place where the setting stands. */
export function useSave(): Save {
  const text = useRefusalText();
  const [refusal, setRefusal] = useState<string | null>(null);
  const [pending, setPending] = useState(false);
  const save = async (work: () => Promise<unknown>): Promise<boolean> => {
    setPending(true);
    try {
      await work();
      setRefusal(null);
      return true;
    } catch (thrown) {
      setRefusal(text(thrown));
      return false;
    } finally {
      setPending(false);
    }
  };
  return { refusal, pending, save };
}

/** Saves settings of goals and notices. */
export function useSaveGoalSettings(): Save & {
  set: (changes: Partial<Settings>) => Promise<boolean>;
} {
  const { store } = useKit();
  const saving = useSave();
  const set = (changes: Partial<Settings>): Promise<boolean> =>
    saving.save(async () => {
      store.acceptSettings(await settingsSet({ changes }));
    });
  return { ...saving, set };
}
