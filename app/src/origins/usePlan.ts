/** The plans that can be implemented from a place, and the one that is chosen. */
import { useState } from 'react';

import type { Item } from '../composer/MenuPicker';
import { nameOf, planOf, plansIn, readPlan, type Plan } from '../server/plans';
import { useServer } from '../server/store';
import { useRead } from '../ui/useRead';
import type { Origin } from './origin';

/** Stands for the plan that was said. */
const SAID = '';

export interface Plans {
  items: readonly Item[];
  /** Which of them. */
  value: string | null;
  pick: (value: string) => void;
  /** The chosen one, once it is read. */
  plan: Plan | null;
  /** The list or the plan could not be read. */
  failure: { thrown: unknown } | null;
  /** Something is being read. */
  loading: boolean;
  again: () => void;
}

/**
 * Proposed is the file that the session itself has written, else what was said in it, else the newest file: where there is
 * a file, an answer may only tell of it.
 */
export function usePlans({ directory, sessionId, said }: Extract<Origin, { kind: 'plan' }>): Plans {
  const [picked, setPicked] = useState<string | null>(null);
  const list = useRead(directory, () => plansIn(directory));
  const session = useServer((state) => (sessionId === null ? undefined : state.sessions[sessionId]));
  const paths = list.value ?? [];
  const own = paths.find((path) => session !== undefined && path === planOf(session));
  const proposed = list.loading ? null : (own ?? (said === null ? (paths[0] ?? null) : SAID));
  const value = picked ?? proposed;
  const path = value === null || value === SAID ? null : value;
  const file = useRead(path, () => readPlan(directory, path ?? ''));
  const spoken = said === null ? [] : [{ value: SAID, label: said.title, detail: null }];
  const written = paths.map((one) => ({ value: one, label: nameOf(one), detail: one }));
  return {
    items: [...spoken, ...written],
    value,
    pick: setPicked,
    plan: value === SAID ? said : file.value,
    // A plan that was said needs no list of others.
    failure: file.failure ?? (value === null ? list.failure : null),
    loading: file.loading || (value === null && list.loading),
    again: () => {
      list.again();
      file.again();
    },
  };
}
