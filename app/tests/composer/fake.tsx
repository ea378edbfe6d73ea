/** A host with a server behind it, as small as the composer's tests need. */
import { clearMocks, mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { render, type RenderResult } from '@testing-library/react';
import { Tooltip } from 'radix-ui';

import { Composer } from '../../src/composer/Composer';
import { chosen } from '../../src/composer/choice';
import { queues } from '../../src/composer/queue';
import { drafts } from '../../src/drafts';
import { Goals } from '../../src/goal';
import type { Draft, Models, ServerRequest } from '../../src/host/contract';
import { navigation, useNavigation } from '../../src/navigation';
import { DEFAULTS, preferences } from '../../src/preferences';
import { without } from '../../src/server/apply';
import { server } from '../../src/server/store';
import { Toasts } from '../../src/ui/toasts';
import { assistant, DIRECTORY, session, state, user, wire } from '../server/fixtures';

/** A request is answered with a body, or with an HTTP status. */
export class Status {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

type Route = (request: ServerRequest) => unknown;

export interface Fake {
  /** Requests to the server that change something, as `POST /session`, and their bodies. */
  posted: { route: string; body: Record<string, unknown> }[];
  /** Drafts as the host keeps them. */
  kept: Readonly<Record<string, Draft>>;
  routes: Record<string, Route>;
  folder: string | null;
}

export const MODELS: Models = {
  providers: [
    {
      id: 'fake',
      name: 'Fake',
      models: [
        {
          id: 'big',
          name: 'Big',
          contextLimit: 200_000,
          outputLimit: 8_000,
          cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 },
          variants: ['low', 'high'],
          attachments: true,
          images: true,
          pdf: true,
          reasoning: true,
        },
        {
          id: 'blind',
          name: 'Blind',
          contextLimit: 32_000,
          outputLimit: 4_000,
          cost: null,
          variants: [],
          attachments: false,
          images: false,
          pdf: false,
          reasoning: false,
        },
      ],
    },
  ],
  configured: { providerId: 'fake', modelId: 'big' },
  agents: ['build', 'plan'].map((name) => ({
    name,
    description: `The agent ${name}`,
    mode: 'primary',
    hidden: false,
    model: null,
    color: null,
  })),
};

const COMMANDS = [{ name: 'review', description: 'Reviews the changes', template: '', hints: [] }];

export const done = { ...assistant('msg_2', 2), time: { created: 2, completed: 3 }, finish: 'stop' };

export function fakeHost(): Fake {
  const fake: Fake = { posted: [], kept: {}, routes: {}, folder: null };
  clearMocks();
  mockWindows('main');
  mockIPC(
    (name, given) => answer(fake, name, (given ?? {}) as Record<string, unknown>),
    { shouldMockEvents: true },
  );
  drafts.setState({}, true);
  queues.setState({}, true);
  chosen.setState({}, true);
  preferences.setState(DEFAULTS, true);
  navigation.setState({ place: { kind: 'session', id: 'ses_a' }, overlay: null });
  server.setState(
    state({
      connection: { kind: 'live' },
      listing: 'ready',
      sessions: { ses_a: session('ses_a') },
      transcripts: {
        ses_a: { phase: 'ready', failure: null, messages: [user('msg_1', 1), done], parts: {}, older: null },
      },
    }),
    true,
  );
  return fake;
}

function answer(fake: Fake, name: string, args: Record<string, unknown>): unknown {
  switch (name) {
    case 'server_call':
      return serverCall(fake, args['request'] as ServerRequest);
    case 'models':
      return MODELS;
    case 'drafts':
      return fake.kept;
    case 'draft_set': {
      const { key, draft } = args as { key: string; draft: Draft | null };
      fake.kept = draft === null ? without(fake.kept, key) : { ...fake.kept, [key]: draft };
      return null;
    }
    case 'pick_folder':
      return fake.folder;
    case 'plugin:goal|list':
      return { seq: 1, goals: [] };
    case 'plugin:goal|notices':
      return [];
    case 'plugin:goal|settings_get':
      return { settings: { sessionGoalEnabled: true }, defaults: {}, source: 'file', complaint: null };
    default:
      return null;
  }
}

function serverCall(fake: Fake, request: ServerRequest): ArrayBuffer | Promise<ArrayBuffer> {
  const route = `${request.method} ${request.path}`;
  if (request.method !== 'GET') {
    fake.posted.push({ route, body: JSON.parse(request.body ?? '{}') as Record<string, unknown> });
  }
  const told = fake.routes[route]?.(request) ?? usual(route);
  return told instanceof Promise ? told.then(give) : give(told);
}

function give(body: unknown): ArrayBuffer {
  const failed = body instanceof Status;
  const head = { status: failed ? body.code : 200, contentType: 'application/json' };
  return wire(head, failed ? { data: { message: 'the server would not' } } : body);
}

function usual(route: string): unknown {
  if (route === 'GET /command') return COMMANDS;
  if (route === 'GET /find/file') return ['/', 'src/export.ts', 'src/'];
  if (route === 'POST /session') return session('ses_new');
  if (route.startsWith('GET /session/ses_')) return [{ info: done, parts: [] }];
  return true;
}

/** The bodies of the prompts that were sent to a session. */
export function prompts(fake: Fake, id = 'ses_a'): Record<string, unknown>[] {
  return fake.posted.filter(({ route }) => route === `POST /session/${id}/prompt_async`).map(({ body }) => body);
}

/** The texts of those prompts. */
export function texts(fake: Fake, id = 'ses_a'): (string | undefined)[] {
  return prompts(fake, id).map(({ parts }) => (parts as { text?: string }[])[0]?.text);
}

/** The session works, or is idle. */
export function work(busy: boolean): void {
  server.setState({ status: busy ? { ses_a: { type: 'busy' } } : {} });
}

function Page(): ReturnType<typeof Composer> {
  return <Composer place={useNavigation(({ place }) => place)} />;
}

export function draw(): RenderResult {
  return render(
    <Tooltip.Provider>
      <Goals>
        <Page />
      </Goals>
      <Toasts />
    </Tooltip.Provider>,
  );
}

export { DIRECTORY };
