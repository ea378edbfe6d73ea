/** The simulated server's answers to `server_call`, for what the host lets through; everything else is refused. */
import type { Session, Worktree } from '@opencode-ai/sdk/v2/client';

import type { ServerAnswerHead, ServerRequest } from '../../src/host/contract';
import { AGENTS, CHANGED, COMMANDS, contentOf, FILES, nodesIn } from './project';
import { copy, makeSession, newId, type Row } from './make';
import type { Prompt, Turns } from './turns';
import { Missing, Refused, type World } from './world';

interface Answer {
  status: number;
  body: unknown;
  next?: string;
}

interface Call {
  /** What stands in the path for `:id` and `:mid`. */
  id: string;
  mid: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

type Handler = (call: Call) => Answer | Promise<Answer>;

export interface Parts {
  world: World;
  turns: Turns;
  /** Stops a session's turn, as the host does: by the goal, where one is active. */
  stop: (sessionId: string) => Promise<void> | void;
}

const ok = (body: unknown, next?: string): Answer => ({
  status: 200,
  body,
  ...(next === undefined ? {} : { next }),
});
const NOTHING: Answer = { status: 204, body: null };

/** Answers one request, as bytes: the head's line, then the body. */
export function makeServerCall(parts: Parts): (request: ServerRequest) => Promise<ArrayBuffer> {
  const routes = [...reading(parts), ...changing(parts), ...acting(parts)].map(
    ([route, handler]) => {
      const [method = '', path = ''] = route.split(' ');
      const pattern = path.replace(':id', '(?<id>[a-z]+_[\\w]+)').replace(':mid', '(?<mid>msg\\w+)');
      return { method, pattern: new RegExp(`^${pattern}$`), handler };
    },
  );
  return async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 4));
    for (const { method, pattern, handler } of routes) {
      const found = method === request.method ? pattern.exec(request.path) : null;
      if (found === null) continue;
      if (!parts.world.up) throw new Refused('notConnected', 'there is no line to the server');
      return bytes(await answered(handler, request, found.groups ?? {}));
    }
    console.error(`the page asked for ${request.method} ${request.path}, which the host refuses`);
    throw new Refused('notAllowed', `${request.method} ${request.path}`);
  };
}

async function answered(
  handler: Handler,
  request: ServerRequest,
  groups: Record<string, string>,
): Promise<Answer> {
  try {
    return await handler({
      id: groups['id'] ?? '',
      mid: groups['mid'] ?? '',
      query: new URLSearchParams(request.query),
      body: JSON.parse(request.body ?? '{}') as Record<string, unknown>,
    });
  } catch (thrown) {
    if (!(thrown instanceof Missing)) throw thrown;
    return { status: 404, body: { name: 'NotFoundError', data: { message: thrown.message } } };
  }
}

function bytes({ status, body, next }: Answer): ArrayBuffer {
  const head: ServerAnswerHead = {
    status,
    contentType: 'application/json',
    ...(next === undefined ? {} : { nextCursor: next }),
  };
  const line = JSON.stringify(head);
  return new TextEncoder().encode(`${line}\n${body === null ? '' : JSON.stringify(body)}`).buffer;
}

function reading({ world }: Parts): [string, Handler][] {
  const inFolder = ({ query }: Call): ((of: { sessionID: string }) => boolean) => {
    const directory = query.get('directory');
    return ({ sessionID }) => world.sessions.get(sessionID)?.directory === directory;
  };
  return [
    ['GET /global/health', () => ok({ healthy: true, version: '1.18.33' })],
    ['GET /path', ({ query }) => ok({ home: '/home/ada', directory: query.get('directory') })],
    ['GET /vcs', () => ok({ branch: 'main', default_branch: 'main' })],
    ['GET /vcs/diff', () => ok([])],
    ['GET /project', () => ok(projects(world))],
    ['GET /project/current', () => ok(projects(world)[0] ?? {})],
    ['GET /session', ({ query }) => listed(world, query)],
    ['GET /experimental/session', ({ query }) => listed(world, query)],
    ['GET /session/status', (call) => ok(statusOf(world, inFolder(call)))],
    ['GET /session/:id', ({ id }) => ok(world.session(id))],
    [
      'GET /session/:id/children',
      ({ id }) => ok([...world.sessions.values()].filter(({ parentID }) => parentID === id)),
    ],
    ['GET /session/:id/todo', ({ id }) => ok(world.todos.get(id) ?? [])],
    ['GET /session/:id/message', ({ id, query }) => messages(world, id, query)],
    ['GET /session/:id/message/:mid', ({ id, mid }) => ok(rowOf(world, id, mid))],
    ['GET /session/:id/diff', ({ id }) => ok(world.session(id).summary === undefined ? [] : CHANGED)],
    ['GET /permission', (call) => ok([...world.permissions.values()].filter(inFolder(call)))],
    ['GET /question', (call) => ok([...world.questions.values()].filter(inFolder(call)))],
    ['GET /command', () => ok(COMMANDS)],
    ['GET /agent', () => ok(AGENTS)],
    ['GET /mcp', () => ok({ github: { status: 'connected' }, sentry: { status: 'needs_auth' } })],
    ['GET /lsp', () => ok([{ id: 'ts', name: 'typescript', root: '', status: 'connected' }])],
    ['GET /formatter', () => ok([{ name: 'prettier', extensions: ['.ts'], enabled: true }])],
    ['GET /file', ({ query }) => ok(nodesIn(query.get('path') ?? ''))],
    ['GET /file/content', ({ query }) => ok(contentOf(query.get('path') ?? ''))],
    ['GET /file/status', () => ok([])],
    ['GET /find', () => ok([])],
    ['GET /find/symbol', () => ok([])],
    ['GET /find/file', ({ query }) => ok(filesLike(query.get('query') ?? ''))],
  ];
}

function filesLike(wanted: string): string[] {
  return FILES.filter((path) => path.toLowerCase().includes(wanted.toLowerCase())).slice(0, 20);
}

function projects(world: World): { id: string; worktree: string }[] {
  const folders = new Set([...world.sessions.values()].map(({ directory }) => directory));
  return [...folders].map((worktree) => ({ id: `project${worktree}`, worktree }));
}

function statusOf(
  world: World,
  belongs: (of: { sessionID: string }) => boolean,
): Record<string, unknown> {
  return Object.fromEntries([...world.status].filter(([sessionID]) => belongs({ sessionID })));
}

function listed(world: World, query: URLSearchParams): Answer {
  if (world.listFails) {
    const message = 'Unexpected server error. Check server logs for details.';
    return { status: 500, body: { name: 'UnknownError', data: { message, ref: 'err_cac7017a' } } };
  }
  const wanted = (query.get('search') ?? '').toLowerCase();
  const before = Number(query.get('cursor') ?? Infinity);
  const directory = query.get('directory');
  const limit = Number(query.get('limit') ?? 100);
  const all = [...world.sessions.values()]
    .filter(({ time }) => time.archived === undefined || query.get('archived') === 'true')
    .filter(({ parentID }) => query.get('roots') !== 'true' || parentID === undefined)
    .filter((session) => directory === null || session.directory === directory)
    .filter(({ title, time }) => title.toLowerCase().includes(wanted) && time.updated < before)
    .sort((a, b) => b.time.updated - a.time.updated);
  const rows = all.slice(0, limit).map((session) => {
    const project = { id: session.projectID, worktree: session.directory };
    return { ...session, project };
  });
  const last = rows.at(-1);
  return ok(rows, all.length > limit && last !== undefined ? String(last.time.updated) : undefined);
}

function messages(world: World, id: string, query: URLSearchParams): Answer {
  world.session(id);
  world.onRead();
  const rows = world.rowsOf(id);
  const before = query.get('before');
  const end = before === null ? rows.length : rows.findIndex(({ info }) => info.id === atob(before));
  const start = Math.max(0, end - Number(query.get('limit') ?? rows.length));
  const first = rows[start];
  return ok(
    rows.slice(start, end),
    start > 0 && first !== undefined ? btoa(first.info.id) : undefined,
  );
}

function rowOf(world: World, id: string, messageId: string): Row {
  const row = world.rowsOf(id).find(({ info }) => info.id === messageId);
  if (row === undefined) throw new Missing(`Message not found: ${messageId}`);
  return row;
}

function changing({ world }: Parts): [string, Handler][] {
  return [
    ['POST /session', ({ query, body }) => ok(created(world, query.get('directory'), body))],
    ['POST /experimental/worktree', ({ query }) => ok(madeTree(world, query.get('directory') ?? ''))],
    ['DELETE /experimental/worktree', ({ body }) => ok(world.trees.delete(String(body['directory'])))],
    [
      'PATCH /session/:id',
      ({ id, body }) => ok(world.change(id, body)),
    ],
    [
      'DELETE /session/:id',
      ({ id }) => {
        const info = world.session(id);
        world.tell(id, 'session.deleted', { sessionID: id, info });
        world.sessions.delete(id);
        return ok(true);
      },
    ],
    ['POST /session/:id/fork', ({ id, body }) => ok(forked(world, id, body['messageID']))],
    [
      'POST /session/:id/revert',
      ({ id, body }) => ok(world.change(id, { revert: { messageID: String(body['messageID']) } })),
    ],
    [
      'POST /session/:id/unrevert',
      ({ id }) => {
        const { revert, ...rest } = world.session(id);
        if (revert !== undefined) world.sessions.set(id, rest);
        return ok(world.change(id, {}));
      },
    ],
  ];
}

/** There at once, filled a little later. */
function madeTree(world: World, directory: string): Worktree {
  const name = 'brave-otter';
  const made = { name, branch: `opencode/${name}`, directory: `${directory}/../worktrees/${name}` };
  world.trees.add(made.directory);
  setTimeout(() => {
    if (world.treesFail) world.tellOf(made.directory, 'worktree.failed', { message: 'Failed to populate worktree' });
    else world.tellOf(made.directory, 'worktree.ready', { name, branch: made.branch });
  }, 300);
  return made;
}

function created(world: World, directory: string | null, body: Record<string, unknown>): Session {
  const now = Date.now();
  const title = typeof body['title'] === 'string' ? body['title'] : `New session - ${now}`;
  const session = makeSession(title, {
    ...(directory === null ? {} : { directory }),
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    time: { created: now, updated: now },
  });
  world.add(session);
  world.tell(session.id, 'session.created', { sessionID: session.id, info: session });
  return session;
}

/** A copy of a session with new ids, up to a message or whole. */
function forked(world: World, id: string, upTo: unknown): Session {
  const { title, directory } = world.session(id);
  const rows = world.rowsOf(id);
  const end = upTo === undefined ? rows.length : rows.findIndex(({ info }) => info.id === upTo);
  const session = makeSession(`${title} (fork #1)`, { directory });
  const copies = copy(rows.slice(0, end)).map(({ info, parts }) => {
    const own = { ...info, id: newId('msg'), sessionID: session.id };
    const ids = { sessionID: session.id, messageID: own.id };
    return { info: own, parts: parts.map((part) => ({ ...part, ...ids, id: newId('prt') })) };
  });
  world.add(session, copies);
  world.tell(session.id, 'session.created', { sessionID: session.id, info: session });
  return session;
}

function acting({ world, turns, stop }: Parts): [string, Handler][] {
  return [
    [
      'POST /session/:id/prompt_async',
      ({ id, body }) => {
        world.session(id);
        turns.prompt(id, body as unknown as Prompt);
        return NOTHING;
      },
    ],
    [
      'POST /session/:id/command',
      async ({ id, body }) => {
        const text = `${String(body['command'])} ${String(body['arguments'])}`;
        const { info } = turns.prompt(id, { parts: [{ type: 'text', text }] });
        await idle(world, id);
        return ok(rowOf(world, id, info.id));
      },
    ],
    [
      'POST /session/:id/shell',
      ({ id, body }) => {
        turns.prompt(id, { parts: [{ type: 'text', text: String(body['command']), synthetic: true }] });
        return ok({});
      },
    ],
    [
      'POST /session/:id/abort',
      async ({ id }) => {
        await stop(id);
        return ok(true);
      },
    ],
    [
      'POST /session/:id/summarize',
      async ({ id }) => {
        await turns.compact(id);
        return ok(true);
      },
    ],
    ['POST /session/:id/init', () => ok(true)],
    [
      'POST /permission/:id/reply',
      ({ id, body }) => replied(turns.reply('permission', id, body as { reply: string }), id),
    ],
    [
      'POST /question/:id/reply',
      ({ id, body }) => replied(turns.reply('question', id, body as { answers: string[][] }), id),
    ],
    ['POST /question/:id/reject', ({ id }) => replied(turns.reply('question', id, null), id)],
  ];
}

function replied(known: boolean, id: string): Answer {
  if (known) return ok(true);
  const body = { _tag: 'PermissionNotFoundError', requestID: id, message: `no request ${id}` };
  return { status: 404, body };
}

/** A command's answer comes when its turn has ended. */
async function idle(world: World, id: string): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, 100));
  } while (world.status.has(id));
}
