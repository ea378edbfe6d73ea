import type { ReactNode } from 'react';

import { sentence } from '../../presentation.js';
import type { GoalView, JournalLine } from '../../types.js';
import type { Words } from '../../words.js';
import { useDecisions, useNow } from '../hooks.js';

/** What is worth a line: what was done, not every look. */
const SHOWN = new Set<JournalLine['decision']>(['continue', 'pause', 'settle']);

/** The newest five of what the loop decided. */
export function Decisions({ goal, words }: { goal: GoalView; words: Words }): ReactNode {
  const lines = useDecisions(goal).filter(({ decision }) => SHOWN.has(decision));
  const now = useNow(60_000);
  if (lines.length === 0) return null;
  return (
    <section className="goal-recent">
      <h3>{words.say('dialog.recent')}</h3>
      <ol>
        {lines.slice(0, 5).map((line) => (
          <li key={`${String(line.at)} ${line.decision}`} data-decision={line.decision}>
            <time dateTime={new Date(line.at).toISOString()}>{words.clock(line.at, now)}</time>
            <span>{decisionText(line, words)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function decisionText({ decision, why }: JournalLine, words: Words): string {
  const families = ['occasion', 'reason', 'auditFailure', 'why'];
  const because = families.map((family) => words.code(family, why)).find(Boolean);
  const done = sentence(words.say(`decision.${decision}`));
  return because === undefined ? done : words.say('dialog.line', { decision: done, why: because });
}
