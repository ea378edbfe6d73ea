import { useCallback, useEffect, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { errorText, type GoalError } from 'tauri-plugin-goal-api';
import { GoalDialog, GoalProvider, useEnabled } from 'tauri-plugin-goal-api/react';
import { useStore } from 'zustand';

import { navigation } from '../navigation';
import { toast } from '../ui/toasts';
import { draftArmings } from './arming';
import { useCost } from './cost';
import { closeGoal, managed } from './manage';
import { languageOf, wordsOf } from './words';

/** Around the whole page: the goals' one listener, words and language, and their one dialog. */
export function Goals({ children }: { children: ReactNode }): ReactNode {
  const { i18n } = useTranslation();
  const language = languageOf(i18n.language);
  const words = useMemo(() => wordsOf(i18n.language), [i18n.language]);
  const onError = useCallback(
    (error: GoalError) => {
      toast({ tone: 'bad', text: errorText(error, words) });
    },
    [words],
  );
  return (
    <GoalProvider {...language} arm={draftArmings} onError={onError}>
      {children}
      {/* A modal dialog lies over the toasts: it shows its own failures. */}
      <GoalProvider {...language} arm={draftArmings}>
        <Managed />
      </GoalProvider>
    </GoalProvider>
  );
}

function Managed(): ReactNode {
  const sessionId = useStore(managed, (state) => state.sessionId);
  // What it shows belongs to the place where it was opened.
  useEffect(
    () =>
      navigation.subscribe((now, before) => {
        if (now.place !== before.place) closeGoal();
      }),
    [],
  );
  return sessionId === null ? null : <ManagedGoal sessionId={sessionId} />;
}

function ManagedGoal({ sessionId }: { sessionId: string }): ReactNode {
  const { open, raise } = useStore(managed);
  const enabled = useEnabled();
  const cost = useCost(sessionId);
  return (
    <GoalDialog
      sessionId={sessionId}
      open={open && enabled}
      raise={raise}
      facts={cost}
      onOpenChange={(now) => {
        if (!now) closeGoal();
      }}
    />
  );
}
