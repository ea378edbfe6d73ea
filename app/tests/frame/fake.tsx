/** A host with a server behind it, as small as the frame's tests need; and the page's own surroundings. */
import { emit } from '@tauri-apps/api/event';
import { clearMocks, mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { cleanup, render, type RenderResult } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import type { ServerStatus } from 'tauri-plugin-goal-api';
import { vi } from 'vitest';

import { server as connected } from '../../../guest-js/tests/fixtures';
import { Goals } from '../../src/goal';
import type { OpenRequest, Preferences, ServerRequest } from '../../src/host/contract';
import { navigation } from '../../src/navigation';
import { DEFAULTS, preferences } from '../../src/preferences';
import { EMPTY, type ServerState, type Session } from '../../src/server/state';
import { server } from '../../src/server/store';
import { acting } from '../../src/sidebar/acting';
import { Toasts } from '../../src/ui/toasts';

export const CONNECTED = connected();

/** What a request is answered with: a body, or an HTTP status. */
type Route = (request: ServerRequest) => unknown;

export interface Fake {
  /** Requests to the server, as `GET /session/ses_1`. */
  asked: string[];
  requests: ServerRequest[];
  /** Commands of the host and the plugin with their arguments. */
  commands: { name: string; args: Record<string, unknown> }[];
  /** How the plugin says the server stands. */
  status: ServerStatus;
  open: OpenRequest | null;
  folder: string | null;
  routes: Record<string, Route>;
  /** Refuses these commands. */
  refuses: Set<string>;
}

export class Status {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

export function fakeHost(): Fake {
  const fake: Fake = {
    asked: [],
    requests: [],
    commands: [],
    status: CONNECTED,
    open: null,
    folder: null,
    routes: {},
    refuses: new Set(),
  };
  mockWindows('main');
  mockIPC(
    (name, given) => {
      const args = (given ?? {}) as Record<string, unknown>;
      fake.commands.push({ name, args });
      if (fake.refuses.has(name)) throw { code: 'internal', message: `${name} is refused` } as unknown;
      return answer(fake, name, args);
    },
    { shouldMockEvents: true },
  );
  return fake;
}

function answer(fake: Fake, name: string, args: Record<string, unknown>): unknown {
  switch (name) {
    case 'server_call':
      return serverCall(fake, args['request'] as ServerRequest);
    case 'preferences_set':
      return { ...preferences.getState(), ...(args['patch'] as Partial<Preferences>) };
    case 'take_open':
      return fake.open;
    case 'pick_folder':
      return fake.folder;
    case 'models':
      return { providers: [], configured: null, agents: [] };
    case 'plugin:goal|list':
      return { seq: 1, goals: [] };
    case 'plugin:goal|server_status':
    case 'plugin:goal|server_connect':
      return fake.status;
    case 'plugin:goal|notices':
    case 'plugin:goal|pause_all':
      return [];
    case 'plugin:goal|settings_get':
      return { settings: { sessionGoalEnabled: true }, defaults: {}, source: 'file', complaint: null };
    default:
      return null;
  }
}

function serverCall(fake: Fake, request: ServerRequest): ArrayBuffer {
  const key = `${request.method} ${request.path}`;
  fake.asked.push(key);
  fake.requests.push(request);
  const body = fake.routes[key]?.(request) ?? usual(request);
  const head = { status: body instanceof Status ? body.code : 200, contentType: 'application/json' };
  const text = body instanceof Status ? '{"name":"NotFoundError","data":{"message":"gone"}}' : JSON.stringify(body);
  return new TextEncoder().encode(`${JSON.stringify(head)}\n${text}`).buffer;
}

/** A session as the page knows it, no rows of anything else, and every wish granted. */
function usual({ method, path }: ServerRequest): unknown {
  if (method !== 'GET') return true;
  const [, id] = /^\/session\/(ses_\w+)$/.exec(path) ?? [];
  if (id !== undefined) return server.getState().sessions[id] ?? new Status(404);
  return [];
}

/** The plugin or the host tells something. */
export const tell = (event: string, payload: unknown): Promise<void> => emit(event, payload);

export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    slug: id,
    projectID: 'p',
    directory: '/home/ada/exporter',
    title: `Title of ${id}`,
    version: '1.18.33',
    time: { created: 1, updated: 1 },
    ...more,
  };
}

/** What the page knows of the server, in one go. */
export function know(sessions: readonly Session[], more: Partial<ServerState> = {}): void {
  server.setState(
    {
      ...EMPTY,
      connection: { kind: 'live' },
      listing: 'ready',
      sessions: Object.fromEntries(sessions.map((one) => [one.id, one])),
      ...more,
    },
    true,
  );
}

/** Everything as at the start of the page. */
export function reset(patch: Partial<Preferences> = {}): void {
  server.setState(EMPTY, true);
  preferences.setState({ ...DEFAULTS, ...patch }, true);
  navigation.setState({ place: { kind: 'draft', directory: null }, overlay: null, sheet: null }, true);
  acting.setState({ renaming: null, deleting: null, gone: {} }, true);
}

/** Takes the page away and then the host: listeners end a turn later than their readers. */
export async function endHost(): Promise<void> {
  cleanup();
  await new Promise((done) => setTimeout(done));
  clearMocks();
}

export function show(children: ReactNode): RenderResult {
  return render(
    <Tooltip.Provider>
      <Goals>{children}</Goals>
      <Toasts />
    </Tooltip.Provider>,
  );
}

/** Gives lists a height, so that the lines within it are drawn. Returns what takes it back. */
export function giveHeight(height: number): () => void {
  const spy = vi.spyOn(prototypeWith('clientHeight'), 'clientHeight', 'get').mockReturnValue(height);
  return () => { spy.mockRestore(); };
}

/** Where happy-dom keeps a property of elements: not on the class that the page sees. */
function prototypeWith(property: keyof HTMLElement): HTMLElement {
  let at = document.createElement('div');
  while (!Object.hasOwn(at, property)) at = Object.getPrototypeOf(at) as HTMLDivElement;
  return at;
}
