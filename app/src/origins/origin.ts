/** What a new session can begin from, beside a message that is typed. */
import type { Plan } from '../server/plans';

export type Origin =
  | {
      kind: 'answer';
      /** The session that gave it. */
      sessionId: string;
      directory: string;
      text: string;
    }
  | {
      kind: 'plan';
      /** The session that planned; `null`: it is chosen among the folder's files. */
      sessionId: string | null;
      directory: string;
      /** What the plan agent said; `null`: there are only files. */
      said: Plan | null;
    };
