/** A host whose server answers what a test says; and what stands around the chat. */
import { clearMocks, mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { render, type RenderResult } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import { beforeEach } from 'vitest';

import type { ServerEvent, ServerRequest } from '../../src/host/contract';
import { openDraft } from '../../src/navigation';
import { EMPTY, type ServerState, type Session } from '../../src/server/state';
import { server } from '../../src/server/store';
import { hear } from '../../src/server/sync';
import { Toasts } from '../../src/ui/toasts';

export interface Host {
  /** Requests to the server, with what they carried. */
  asked: { call: string; body: unknown }[];
  /** `GET /session/ses_1` → its answer. */
  answers: Record<string, (request: ServerRequest) => { status?: number; body: unknown; next?: string }>;
  /** Addresses that were opened in the browser. */
  opened: unknown[];
}

export function chatHost(): Host {
  const host: Host = { asked: [], answers: {}, opened: [] };
  beforeEach(() => {
    Object.assign(host, { asked: [], answers: {}, opened: [] });
    server.setState({ ...EMPTY, connection: { kind: 'live' } }, true);
    openDraft(null);
    clearMocks();
    mockWindows('main');
    mockIPC((command, given) => answer(host, command, given as Record<string, unknown>), { shouldMockEvents: true });
  });
  return host;
}

function answer(host: Host, command: string, args: Record<string, unknown>): unknown {
  switch (command) {
    case 'server_call':
      return called(host, args['request'] as ServerRequest);
    case 'open_external':
      host.opened.push(args['url']);
      return null;
    case 'models':
      return { providers: [], configured: null, agents: [] };
    case 'plugin:goal|list':
      return { seq: 1, goals: [] };
    default:
      return null;
  }
}

function called(host: Host, request: ServerRequest): ArrayBuffer {
  const call = `${request.method} ${request.path}`;
  host.asked.push({ call, body: request.body === null ? null : JSON.parse(request.body) });
  const { status = 200, body, next } = host.answers[call]?.(request) ?? { status: 404, body: { message: call } };
  const head = JSON.stringify({ status, contentType: 'application/json', nextCursor: next });
  return new TextEncoder().encode(`${head}\n${JSON.stringify(body)}`).buffer;
}

export function show(page: ReactNode): RenderResult {
  return render(
    <Tooltip.Provider>
      {page}
      <Toasts />
    </Tooltip.Provider>,
  );
}

/** What the server tells. */
export function told(...events: [type: string, properties: unknown][]): void {
  hear({
    kind: 'events',
    events: events.map(([type, properties]): ServerEvent => ({ directory: '/demo', type, properties })),
  });
}

export function known(sessions: readonly Session[], more: Partial<ServerState> = {}): void {
  server.setState({ sessions: Object.fromEntries(sessions.map((one) => [one.id, one])), ...more });
}
