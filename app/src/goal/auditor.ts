/** Which model will audit the goals of a place, looked up before anything is started. No model is asked. */
import { useEffect, useState } from 'react';
import { auditorCheck, GoalError, type AuditorModel } from 'tauri-plugin-goal-api';
import { useGoalSettings, useServer } from 'tauri-plugin-goal-api/react';

/** The auditor, why there is none, or `null` while it is looked up. */
export function useAuditor(
  sessionId: string | null,
  directory: string | null,
): AuditorModel | GoalError | null {
  const [found, setFound] = useState<AuditorModel | GoalError | null>(null);
  const { view } = useGoalSettings();
  const line = useServer()?.state;
  useEffect(() => {
    const whose = sessionId === null ? directory !== null && { directory } : { sessionId };
    if (whose === false) return;
    let wanted = true;
    const take = (answer: AuditorModel | GoalError): void => {
      if (wanted) setFound(answer);
    };
    auditorCheck(whose).then(take, (thrown: unknown) => {
      take(GoalError.from(thrown));
    });
    return () => {
      wanted = false;
    };
    // Another setting or another server may name another one.
  }, [sessionId, directory, view, line]);
  return found;
}
