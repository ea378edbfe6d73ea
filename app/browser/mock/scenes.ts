/** What the simulated server holds when the page begins, by the name in `?scene=`. */
import type { GoalView } from 'tauri-plugin-goal-api';

import type { Goals } from './goals';
import { longTexts } from './longTexts';
import {
  answers,
  asks,
  continuation,
  DAY,
  EXPORTER,
  HOUR,
  makePart,
  makeSession,
  MINUTE,
  newId,
  NOTES,
  reasoning,
  SECOND,
  text,
  tool,
  WEBSITE,
  type Row,
} from './make';
import { PERMISSION, QUESTIONS } from './scripts';
import { toolParts } from './tools';
import type { Turns } from './turns';
import type { World } from './world';

export interface Stage {
  world: World;
  turns: Turns;
  goals: Goals;
}

type Scene = (stage: Stage) => void;

const ASKED = 'Add tests for the export module and make them pass.';
const TOLD = 'The quoting tests pass. Remaining: the delimiter cases and files with a byte order mark.';

/** A few sessions in three folders, with goals; the first is open. */
function tour({ world, goals }: Stage): void {
  const now = Date.now();
  const session = makeSession('Refactor the exporter');
  const first = asks(session, now - 50 * MINUTE, ASKED);
  const second = asks(session, now - 8 * MINUTE, 'And the delimiters?');
  world.add(session, [
    first,
    answers(session, first, [reasoning('I look at what there is first.'), ...toolParts().slice(0, 3), text(TOLD)]),
    second,
    answers(session, second, [text('They are next: comma, semicolon and tab, each with quoting.')]),
  ]);
  world.main = session.id;
  world.todos.set(session.id, [
    { content: 'Quote fields', status: 'completed', priority: 'high' },
    { content: 'Choose the delimiter', status: 'in_progress', priority: 'medium' },
    { content: 'Write a byte order mark', status: 'pending', priority: 'low' },
  ]);
  goals.place(session.id, { phase: 'quiet', next: now + 9 * SECOND, since: now - 6 * SECOND });
  const fixed = world.add(aged('Fix CI', EXPORTER, 2 * DAY));
  const done = { status: 'complete', phase: 'settled', reason: 'verified by audit' } as const;
  goals.addNotice(goals.place(fixed.id, done), 'goalComplete');
  const docs = world.add(aged('Docs', EXPORTER, 3 * DAY));
  const paused = { status: 'paused', phase: 'settled', reason: 'paused by user' } as const;
  goals.addNotice(goals.place(docs.id, paused), 'goalPaused', true);
  world.add(aged('Landing page', WEBSITE, 5 * HOUR));
  world.add(aged('What I read this week', NOTES, 9 * DAY));
}

function aged(title: string, directory: string, ago: number): ReturnType<typeof makeSession> {
  const at = Date.now() - ago;
  return makeSession(title, { directory, time: { created: at - HOUR, updated: at } });
}

function firstRun({ world, goals }: Stage): void {
  world.goDown();
  goals.setServer({
    state: 'failed',
    url: null,
    version: null,
    code: 'openCodeMissing',
    reason: 'no program named opencode was found',
    ready: false,
    driver: 'unknown',
  });
}

/** One session with so many messages. */
function long({ world }: Stage, count = 2_000): void {
  const session = makeSession('A long night');
  const rows: Row[] = [];
  const begin = Date.now() - (count / 2) * MINUTE;
  for (let n = 0; n < count / 2; n += 1) {
    const asked = asks(session, begin + n * MINUTE, `Step ${n + 1}: go on with the next case.`);
    const parts = n % 5 === 0 ? toolParts().slice(n % 3, (n % 3) + 2) : [];
    rows.push(asked, answers(session, asked, [...parts, text(`Case ${n + 1} passes.\n\n${TOLD}`)]));
  }
  world.add(session, rows);
  world.main = session.id;
}

function tools({ world }: Stage): void {
  const session = makeSession('Every tool');
  const now = Date.now();
  const asked = asks(session, now - 20 * MINUTE, 'Use every tool once.', [
    { type: 'file', mime: 'image/png', filename: 'screen.png', url: PIXEL },
    { type: 'file', mime: 'text/plain', filename: 'export.ts', url: `file://${EXPORTER}/src/export.ts` },
  ]);
  const busy = asks(session, now - 3 * MINUTE, 'Once more, and watch the output.');
  world.add(session, [
    asked,
    answers(session, asked, [reasoning('One after the other.'), ...toolParts(), text(TOLD)]),
    ...failures(session, now),
    busy,
    answers(
      session,
      busy,
      [
        tool('bash', {
          status: 'running',
          input: { command: 'npm test -- --watch', description: 'Watches the tests' },
          metadata: { output: ' 12 passed\n 2 running…\n' },
          time: { start: now - 20 * SECOND },
        }),
        tool('edit', { status: 'pending', input: {}, raw: '' }),
      ],
      { time: { created: now - 30 * SECOND } },
    ),
  ]);
  world.status.set(session.id, { type: 'busy' });
  world.main = session.id;
}

/** A pixel: there is nothing to fetch in pictures. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgaPhfDwAD/AH/wFyZ1QAAAABJRU5ErkJggg==';

function failures(session: ReturnType<typeof makeSession>, now: number): Row[] {
  const time = { created: now - 10 * MINUTE, completed: now - 9 * MINUTE };
  const api = { message: 'Invalid API key', statusCode: 401, isRetryable: false };
  const ends: [string, Parameters<typeof answers>[3]][] = [
    ['Which fails.', { time, error: { name: 'APIError', data: api } }],
    ['Which is stopped.', { time, error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } }],
    ['Which is too long.', { time, finish: 'length' }],
    ['Which was cut off.', { time: { created: time.created } }],
  ];
  return ends.flatMap(([words, change]) => {
    const asked = asks(session, time.created, words);
    return [asked, answers(session, asked, [text('So far')], change)];
  });
}

/** A session that waits for a person within a tool. */
function waiting(world: World, title: string, name: string, input: Record<string, unknown>) {
  const session = makeSession(title);
  const now = Date.now();
  const asked = asks(session, now - MINUTE, 'Prepare the release.');
  const state = { status: 'running', input, time: { start: now - 20 * SECOND } } as const;
  const time = { created: now - 30 * SECOND };
  const row = answers(session, asked, [text('Now the release.'), tool(name, state)], { time });
  world.add(session, [asked, row]);
  world.status.set(session.id, { type: 'busy' });
  world.main = session.id;
  const part = row.parts.at(-1);
  const callID = part?.type === 'tool' ? part.callID : '';
  return { session, tool: { messageID: row.info.id, callID } };
}

function permission({ world, goals }: Stage): void {
  const { session, tool } = waiting(world, 'Release', 'bash', PERMISSION.metadata);
  const id = newId('per');
  world.permissions.set(id, { ...PERMISSION, id, sessionID: session.id, tool });
  const edit = newId('per');
  world.permissions.set(edit, {
    id: edit,
    sessionID: session.id,
    permission: 'edit',
    patterns: ['src/export.ts'],
    metadata: { filepath: 'src/export.ts', diff: DIFF },
    always: ['*'],
  });
  goals.place(session.id, { phase: 'waitingForYou', why: 'waitingForYou', detail: 'bash wants to run' });
}

const DIFF =
  '--- a/src/export.ts\n+++ b/src/export.ts\n@@ -1,3 +1,3 @@\n import { quoted } from \'./quote\';\n-const by = \',\';\n+const by = \';\';\n export { by };\n';

function question({ world }: Stage): void {
  const { session, tool } = waiting(world, 'Which delimiter', 'question', { questions: QUESTIONS });
  const id = newId('que');
  const more = {
    question: 'Which files shall be written?',
    header: 'Files',
    multiple: true,
    options: [
      { label: 'CSV', description: 'Text with delimiters' },
      { label: 'JSON', description: 'One line for each row' },
      { label: 'Parquet', description: 'Columns, compressed' },
    ],
  };
  world.questions.set(id, { id, sessionID: session.id, questions: [...QUESTIONS, more], tool });
}

function subagents({ world, goals }: Stage): void {
  const session = makeSession('Look around first');
  const now = Date.now();
  const asked = asks(session, now - 4 * MINUTE, 'Have two agents look around.');
  const children = ['Find the quoting', 'Find the delimiters'].map((title, n) => {
    const child = makeSession(`${title} (@explore subagent)`, {
      parentID: session.id,
      agent: 'explore',
      time: { created: now - 3 * MINUTE, updated: now - n * MINUTE },
    });
    const told = asks(child, now - 3 * MINUTE, title);
    const state = n === 0 ? {} : { time: { created: now - MINUTE } };
    world.add(child, [told, answers(child, told, [...toolParts().slice(3, 5), text('Found it.')], state)]);
    return child;
  });
  const [first, second] = children.map(({ id }, n) => {
    const input = { description: children[n]?.title, prompt: 'Look around.', subagent_type: 'explore' };
    const metadata = { sessionId: id, parentSessionId: session.id };
    const time = { start: now - 3 * MINUTE };
    if (n > 0) return tool('task', { status: 'running', input, title: 'Delimiters', metadata, time });
    const ended = { ...time, end: now - MINUTE };
    const output = '<task_result>It is in src/quote.ts.</task_result>';
    return tool('task', { status: 'completed', input, title: 'Quoting', output, metadata, time: ended });
  });
  if (first === undefined || second === undefined) return;
  world.add(session, [asked, answers(session, asked, [first, second], { time: { created: now - 3 * MINUTE } })]);
  for (const { id } of [session, ...children.slice(1)]) world.status.set(id, { type: 'busy' });
  world.main = session.id;
  goals.place(session.id, { phase: 'waitingForSubagent', detail: children[1]?.id ?? '' });
}

function compaction({ world }: Stage): void {
  const session = makeSession('Condensed');
  const now = Date.now();
  const first = asks(session, now - 30 * MINUTE, ASKED);
  const condensed = asks(session, now - 20 * MINUTE, '');
  condensed.parts = [makePart(condensed.info, { type: 'compaction', auto: true, overflow: false })];
  const go = asks(session, now - 18 * MINUTE, '');
  go.parts = [
    makePart(go.info, {
      type: 'text',
      synthetic: true,
      text: 'Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.',
      metadata: { compaction_continue: true },
    }),
  ];
  world.add(session, [
    first,
    answers(session, first, [text(TOLD)]),
    condensed,
    answers(session, condensed, [text(`## Goal\n\n${ASKED}\n\n## Done\n\n- ${TOLD}`)], {
      mode: 'compaction',
      agent: 'compaction',
      summary: true,
    }),
    go,
    answers(session, go, [text('On with the delimiters.')]),
  ]);
  world.main = session.id;
}

function revert({ world }: Stage): void {
  const session = makeSession('Undone');
  const now = Date.now();
  const first = asks(session, now - 30 * MINUTE, ASKED);
  const undone = asks(session, now - 20 * MINUTE, 'Rewrite it all in one function.');
  const rows = [
    first,
    answers(session, first, [text(TOLD)]),
    undone,
    answers(session, undone, [...toolParts().slice(1, 2), text('It is one function now.')]),
  ];
  world.add({ ...session, revert: { messageID: undone.info.id, diff: DIFF } }, rows);
  world.main = session.id;
}

/** An answer that has been running for a while and goes on. */
function streaming({ world, turns }: Stage): void {
  const session = world.add(makeSession('As it comes'));
  world.main = session.id;
  turns.prompt(session.id, { parts: [{ type: 'text', text: 'Tell it slow.' }] });
}

function offline(stage: Stage): void {
  tour(stage);
  // The page has read what it shows, and what surrounds it.
  stage.world.onRead = () => {
    setTimeout(() => window.__line?.(false), 500);
  };
}

function retrying({ world, goals }: Stage): void {
  const session = makeSession('Too many requests');
  const asked = asks(session, Date.now() - MINUTE, ASKED);
  world.add(session, [asked, answers(session, asked, [], { time: { created: Date.now() - 50 * SECOND } })]);
  const message = 'Too many requests: the provider asks to wait';
  world.status.set(session.id, { type: 'retry', attempt: 2, message, next: Date.now() + 14 * SECOND });
  world.main = session.id;
  goals.place(session.id, { why: 'providerRetries' });
}

function manySessions({ world }: Stage): void {
  const folders = Array.from({ length: 12 }, (_, n) => `/home/ada/projects/project-${n + 1}`);
  for (let n = 0; n < 1_000; n += 1) {
    const directory = folders[n % folders.length] ?? EXPORTER;
    const session = world.add(aged(`Session ${n + 1}: something that was done`, directory, n * 37 * MINUTE));
    world.main ??= session.id;
  }
}

const SETTLED = { phase: 'settled' } as const;

/** A goal of every status, and one of every phase of an active one. */
export function goalStates(): [string, Partial<GoalView>][] {
  const now = Date.now();
  return [
    ['Working', {}],
    ['Quiet', { phase: 'quiet', since: now - 6 * SECOND, next: now + 9 * SECOND }],
    ['Checking', { phase: 'checking' }],
    ['Auditing', { phase: 'auditing' }],
    ['Continuing', { phase: 'continuing', turnsUsed: 4 }],
    ['Waits for a sub-agent', { phase: 'waitingForSubagent', detail: 'ses_child' }],
    ['Waits for you', { phase: 'waitingForYou', why: 'waitingForYou', detail: 'bash wants to run' }],
    ['Rewound', { phase: 'rewound' }],
    ['Tries again', { phase: 'retrying', why: 'statusUnknown', next: now + 2 * MINUTE }],
    ['Needs a click', { phase: 'needsClick', updatedAt: now - 3 * DAY }],
    ['Objective missing', { phase: 'objectiveMissing', objective: null, note: '' }],
    ['Stalled', { phase: 'stalled' }],
    ['Paused', { ...SETTLED, status: 'paused', reason: 'paused by user' }],
    ['Paused after a stop', { ...SETTLED, status: 'paused', reason: 'paused after the turn was stopped' }],
    ['Paused without progress', { ...SETTLED, status: 'paused', reason: 'no progress' }],
    [
      'Blocked',
      {
        ...SETTLED,
        status: 'blocked',
        reason:
          'The export tests need the fixture database, and its password is in none of the files that I can read.',
      },
    ],
    ['At its limit', { ...SETTLED, status: 'blocked', reason: 'auto-continuation limit reached', turnsUsed: 20 }],
    ['Budget reached', { ...SETTLED, status: 'budgetLimited', reason: 'token budget reached', tokensUsed: 203_412 }],
    ['Complete', { ...SETTLED, status: 'complete', reason: 'verified by audit' }],
    ['Marked as complete', { ...SETTLED, status: 'complete', reason: 'marked by user' }],
  ];
}

function goalsScene({ world, goals }: Stage): void {
  goalStates().forEach(([title, state], n) => {
    const session = aged(title, EXPORTER, n * MINUTE);
    const asked = asks(session, session.time.created, ASKED);
    const again = asks(session, session.time.created + MINUTE, '');
    again.parts = [makePart(again.info, continuation(ASKED, 'The delimiter cases remain.', 3))];
    world.add(session, [
      asked,
      answers(session, asked, [text(TOLD)]),
      again,
      answers(session, again, [text('Comma and semicolon pass; tab remains.')]),
    ]);
    if (state.status === undefined && state.phase === undefined) world.status.set(session.id, { type: 'busy' });
    const goal = goals.place(session.id, state);
    if (goal.status === 'complete') goals.addNotice(goal, 'goalComplete');
    if (goal.status === 'blocked') goals.addNotice(goal, 'goalBlocked');
    world.main ??= session.id;
  });
}

/** A running answer that is a target for {@link flood}. */
function floodScene({ world }: Stage): void {
  const session = makeSession('A flood');
  const now = Date.now();
  const asked = asks(session, now - MINUTE, 'Say a lot.');
  const part = { type: 'text' as const, text: '', time: { start: now } };
  world.add(session, [asked, answers(session, asked, [part], { time: { created: now } })]);
  world.status.set(session.id, { type: 'busy' });
  world.main = session.id;
}

/** Ten thousand deltas to the main session's last part; resolves when the page was told of all. */
export async function flood(world: World, count = 10_000): Promise<void> {
  const part = world.rowsOf(world.main ?? '').at(-1)?.parts.at(-1);
  if (part?.type !== 'text') throw new Error('there is no running text');
  const { sessionID, messageID, id } = part;
  for (let n = 0; n < count; n += 1) {
    // Two hundred in a frame: faster than any model.
    if (n % 200 === 0) await new Promise((resolve) => setTimeout(resolve, 16));
    const delta = n % 40 === 39 ? 'end.\n\n' : `word${n} `;
    part.text += delta;
    world.tell(sessionID, 'message.part.delta', { sessionID, messageID, partID: id, field: 'text', delta });
  }
  await new Promise((resolve) => setTimeout(resolve, 32));
}

export const SCENES: Readonly<Record<string, Scene>> = {
  tour,
  empty: () => undefined,
  'first-run': firstRun,
  long,
  tools,
  permission,
  question,
  subagents,
  compaction,
  revert,
  streaming,
  retrying,
  offline,
  'failed-list': (stage) => {
    stage.world.listFails = true;
  },
  'many-sessions': manySessions,
  'long-texts': longTexts,
  goals: goalsScene,
  flood: floodScene,
};
