import { createContext, useContext, useMemo, type ReactNode } from 'react';

import { armStore, type Armings } from '../arm.js';
import type { GoalError } from '../errors.js';
import { goalStore, type GoalStore } from '../store.js';
import { createWords, type Messages, type Words } from '../words.js';

/** What the kit's components share. */
export interface Kit {
  readonly store: GoalStore;
  readonly arm: Armings;
  readonly words: Words;
  /** Where dialogs and tooltips are hung; `undefined`: the body. */
  readonly portal: HTMLElement | undefined;
  readonly onError: ((error: GoalError, sessionId: string | null) => void) | undefined;
}

/** What a page may say about the kit. Everything may be left out, and so may the provider. */
export interface GoalProviderProps {
  /** Texts in place of the English ones, such as `tauri-plugin-goal-api/locales/fr.json`. */
  messages?: Partial<Messages> | undefined;
  /** For numbers and times, such as `fr`. Default: `en`. */
  locale?: string | undefined;
  /** The store to read. Default: the page's one store. */
  store?: GoalStore | undefined;
  /** The armings to read. Default: the page's one. */
  arm?: Armings | undefined;
  /** Where dialogs and tooltips are hung. Default: the body. */
  portal?: HTMLElement | undefined;
  /** Shows a failed request, as a toast for example. Without it the component itself shows it. */
  onError?: ((error: GoalError, sessionId: string | null) => void) | undefined;
  children?: ReactNode;
}

const KitContext = createContext<Kit | null>(null);

let plain: Kit | undefined;

/** Language, store and error handling for the components below it. */
export function GoalProvider(props: GoalProviderProps): ReactNode {
  const { messages, locale, store, arm, portal, onError, children } = props;
  const kit = useMemo<Kit>(
    () => ({
      store: store ?? goalStore(),
      arm: arm ?? armStore(),
      words: createWords({ ...(messages && { messages }), ...(locale && { locale }) }),
      portal,
      onError,
    }),
    [messages, locale, store, arm, portal, onError],
  );
  return <KitContext.Provider value={kit}>{children}</KitContext.Provider>;
}

/** What the provider above says, or the defaults. */
export function useKit(): Kit {
  const kit = useContext(KitContext);
  return kit ?? (plain ??= defaults());
}

function defaults(): Kit {
  return {
    store: goalStore(),
    arm: armStore(),
    words: createWords(),
    portal: undefined,
    onError: undefined,
  };
}
