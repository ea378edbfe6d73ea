/** What agents are told where a session begins from something. What a person sees of it is in their language. */
import i18next from 'i18next';

import type { Plan } from '../server/plans';

/** What is sent to begin with. */
export interface Opening {
  /** What the conversation shows. */
  prompt: string;
  /** What goes along hidden. */
  instructions: string | null;
  /** What a goal is judged by; `null`: the prompt. */
  objective: string | null;
}

const text = (key: 'answer.connective'): string => i18next.getFixedT(null, 'origins')(key);

/** From an answer: what to do with it, and all of it. */
export function openingOfAnswer(instructions: string, answer: string): Opening {
  const prompt = [instructions.trim(), text('answer.connective'), answer.trim()].join('\n\n');
  return { prompt, instructions: null, objective: null };
}

/** From a plan: a short message, and the plan where only the agent and the auditor read it. */
export function openingOfPlan({ title, path, content }: Plan): Opening {
  const plan = content.trim();
  const task = `Implement the plan “${title}” end to end.`;
  const file = path === null ? [] : [`Plan file: ${path}`];
  const reread =
    path === null ? [] : ['Re-read that file: it is the source of truth. Where it cannot be read, the copy below counts.'];
  const work =
    'Carry out every part of it, verify each, and say at the end what is done, how it was verified and what remains. ' +
    'The plan is approved: do not plan anew and do not ask whether to begin.';
  return {
    prompt: i18next.getFixedT(null, 'origins')('plan.prompt', { title }),
    instructions: [[task, ...file, ...reread, work].join('\n'), 'The plan:', plan].join('\n\n'),
    objective: [[task, ...file, ...reread].join('\n'), plan].join('\n\n'),
  };
}
