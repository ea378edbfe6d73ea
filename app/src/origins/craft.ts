/**
 * Crafting a goal: a dialogue whose result is the text of a goal. Nothing of it starts one; the text that the agent
 * proposes can be armed.
 */
import i18next from 'i18next';

import { parseSlash } from '../composer/slash';

/** The page's own command for it, with an idea behind it or without. */
export const CRAFT = 'craft-goal';

/** The language that marks the proposed goal's block. */
export const PROPOSAL = 'goal';

/** The idea in a text that is the command; `''`: the command alone, `null`: another text. */
export function ideaOf(text: string): string | null {
  const slash = parseSlash(text);
  return slash?.name === CRAFT ? slash.arguments.trim() : null;
}

/** What is sent for the command: a request, and how the agent is to go about it. */
export function crafting(idea: string): { text: string; hidden: string } {
  const t = i18next.getFixedT(null, 'origins');
  return {
    text: idea === '' ? t('craft.request') : t('craft.requestFor', { idea }),
    hidden: INSTRUCTIONS,
  };
}

const INSTRUCTIONS = `Help the user craft a session goal. A goal is a completion contract: an independent auditor, who sees \
only the goal's text and your latest turn, judges by it whether the work is done. It is not a plan and lists no steps.

This is a guided dialogue, not one reply:
- If the user named no idea, ask what they want to reach before anything else.
- Look at the workspace before you ask: what is there, how it is built and tested, which commands verify it. Ask nothing \
that the workspace answers.
- Judge whether a goal fits at all. Something that one turn does, or that nobody can verify, needs none: say so.
- Settle, in this order and only as far as it is open: the outcome; how it is verified (commands, files, behaviour); \
constraints; boundaries, that is what must not be touched; how to go on between attempts; when to stop as blocked.
- Ask at most three questions at a time, and propose an answer to each.
- Invent no precision: no numbers, names or deadlines that neither the user nor the workspace gave.
- Do not implement anything, and change no file.

When all is settled, answer with three sections and nothing behind them:
1. The proposed goal, alone in a fenced block that is opened with \`\`\`${PROPOSAL} and holds no other fence. Under 4,000 \
characters, in plain text, written so that it stands without this conversation.
2. Why it can be verified.
3. What you assumed.

Do not activate the goal and do not begin to work on it: the user does that with the text. Reply in the user's language.`;
