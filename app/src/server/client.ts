/** The SDK's client over the host: the page knows no address and no password of the server. */
import { createOpencodeClient, type OpencodeClient } from '@opencode-ai/sdk/v2/client';

import type { ServerRequest } from '../host/contract';
import { HostError, hostError, serverCall } from '../host/host';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** `fetch` for the SDK. Refusals of the host are thrown, the server's own come as answers. */
export async function hostFetch(request: Request): Promise<Response> {
  const url = new URL(request.url);
  const method = METHODS.find((known) => known === request.method);
  if (method === undefined) throw new HostError('notAllowed', request.method);
  const body = method === 'GET' ? '' : await request.text();
  const asked: ServerRequest = {
    method,
    path: url.pathname,
    query: [...url.searchParams],
    body: body === '' ? null : body,
  };
  const { head, body: answer } = await serverCall(asked);
  const empty = head.status === 204 || head.status === 304;
  // The server answers paths that it does not know with its web page.
  if (head.status === 200 && !(head.contentType ?? '').includes('json')) {
    throw new HostError('invalid', `${method} ${url.pathname}: ${head.contentType ?? 'no content type'}`);
  }
  const headers = new Headers({ 'content-type': head.contentType ?? 'application/json' });
  if (head.nextCursor !== undefined) headers.set('x-next-cursor', head.nextCursor);
  return new Response(empty ? null : answer, { status: head.status, headers });
}

/** The address is never used for a connection; the SDK wants one to build its requests on. */
export const client: OpencodeClient = createOpencodeClient({
  baseUrl: 'http://opencode.invalid',
  fetch: ((request: Request) => hostFetch(request)) as typeof fetch,
});

/** A failed call: the host's code, or `server` with the server's own words. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: string;
  readonly status: number | null;

  constructor(code: string, message: string, status: number | null) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

interface Answered<T> {
  data?: T | undefined;
  error?: unknown;
  response?: Response;
}

/** The data of an SDK call; otherwise throws a {@link CallError}. */
export async function data<T>(call: Promise<Answered<T>>): Promise<T> {
  return (await answered(call)).data;
}

/** The data of a call and the cursor of the next page, if there is one. */
export async function page<T>(
  call: Promise<Answered<T>>,
): Promise<{ data: T; next: string | null }> {
  const { data: rows, response } = await answered(call);
  return { data: rows, next: response?.headers.get('x-next-cursor') ?? null };
}

async function answered<T>(
  call: Promise<Answered<T>>,
): Promise<{ data: T; response: Response | undefined }> {
  let answer: Answered<T>;
  try {
    answer = await call;
  } catch (thrown) {
    throw callError(thrown);
  }
  if (answer.error !== undefined) {
    const status = answer.response?.status ?? null;
    // Without a response it never reached the server: the host said why.
    throw status === null ? callError(answer.error) : new CallError('server', said(answer.error), status);
  }
  return { data: answer.data as T, response: answer.response };
}

/** Whatever was thrown, as a {@link CallError}. */
export function callError(thrown: unknown): CallError {
  if (thrown instanceof CallError) return thrown;
  const refused = hostError(thrown);
  return new CallError(refused.code, refused.message, null);
}

/** The server's words for an error; its bodies differ by route. */
export function said(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return String(error);
  if ('data' in error && typeof error.data === 'object' && error.data !== null) {
    if ('message' in error.data) return String(error.data.message);
  }
  if ('message' in error) return String(error.message);
  if ('name' in error) return String(error.name);
  return JSON.stringify(error);
}
