import { mockIPC } from '@tauri-apps/api/mocks';
import { describe, expect, it } from 'vitest';

import { CallError, client, data, hostFetch, page, said } from '../../src/server/client';
import { host, wire } from './fixtures';

const base = 'http://opencode.invalid';

/** What a call rejects with. */
async function refusal(call: Promise<unknown>): Promise<CallError> {
  try {
    await call;
  } catch (thrown) {
    if (thrown instanceof CallError) return thrown;
    throw thrown;
  }
  throw new Error('the call was not refused');
}

describe('hostFetch', () => {
  it('gives the host method, path, query and body apart', async () => {
    const asked = host(() => ({ body: true }));
    await hostFetch(new Request(`${base}/session/ses_1/message?limit=2&before=a%2Bb`));
    await hostFetch(new Request(`${base}/session`, { method: 'POST', body: '{"title":"é"}' }));
    expect(asked).toEqual([
      { method: 'GET', path: '/session/ses_1/message', query: [['limit', '2'], ['before', 'a+b']], body: null },
      { method: 'POST', path: '/session', query: [], body: '{"title":"é"}' },
    ]);
  });

  it('gives the body as it came, byte for byte', async () => {
    const sent = new Uint8Array([...new TextEncoder().encode('{"status":200,"contentType":"application/json"}\n'), 0, 10, 255, 10]);
    mockIPC(() => sent.buffer);
    const response = await hostFetch(new Request(`${base}/file/content`));
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 10, 255, 10]);
  });

  it('takes an answer without a body', async () => {
    host(() => ({ head: { status: 204, contentType: null }, body: undefined }));
    const response = await hostFetch(new Request(`${base}/session/ses_1/prompt_async`, { method: 'POST', body: '{}' }));
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it('refuses the web page that the server answers unknown paths with', async () => {
    host(() => ({ head: { contentType: 'text/html; charset=utf-8' }, body: '<html>' }));
    await expect(hostFetch(new Request(`${base}/sesion`))).rejects.toMatchObject({ code: 'invalid' });
  });

  it('refuses an answer without its head', async () => {
    mockIPC(() => new TextEncoder().encode('{"status":200').buffer);
    await expect(hostFetch(new Request(`${base}/session`))).rejects.toMatchObject({ code: 'invalid' });
  });

  it('knows the methods of the boundary only', async () => {
    const asked = host(() => ({ body: true }));
    const put = new Request(`${base}/session`, { method: 'PUT', body: '{}' });
    await expect(hostFetch(put)).rejects.toMatchObject({ code: 'notAllowed' });
    expect(asked).toEqual([]);
  });
});

describe('a call', () => {
  it('gives the data and the cursor of the next page', async () => {
    host(() => ({ head: { nextCursor: 'abc' }, body: [] }));
    await expect(page(client.session.messages({ sessionID: 'ses_1' }))).resolves.toEqual({ data: [], next: 'abc' });
  });

  it('without a cursor there is no next page', async () => {
    host(() => ({ body: [] }));
    const { next } = await page(client.session.messages({ sessionID: 'ses_1' }));
    expect(next).toBeNull();
  });

  it('tells the server’s refusal with its status and its words', async () => {
    const body = { name: 'NotFoundError', data: { message: 'Session not found: ses_1' } };
    host(() => ({ head: { status: 404 }, body }));
    const refused = await refusal(data(client.session.get({ sessionID: 'ses_1' })));
    expect([refused.code, refused.status, refused.message]).toEqual(['server', 404, 'Session not found: ses_1']);
  });

  it('tells a refusal whose body is empty', async () => {
    host(() => ({ head: { status: 500, contentType: null }, body: undefined }));
    const refused = await refusal(data(client.session.get({ sessionID: 'ses_1' })));
    expect([refused.code, refused.status]).toEqual(['server', 500]);
  });

  it.each(['notAllowed', 'notConnected', 'tooBig', 'timedOut', 'unreachable'])(
    'keeps the host’s code %s',
    async (code) => {
      // The host rejects with plain values.
      mockIPC(() => Promise.reject(Object.assign(new Error('because'), { code })));
      const refused = await refusal(data(client.session.list()));
      expect([refused.code, refused.status, refused.message]).toEqual([code, null, 'because']);
    },
  );

  it('a path that the host does not let through is refused', async () => {
    mockIPC((_, args) => {
      const { request } = args as unknown as { request: { path: string } };
      if (request.path.startsWith('/config')) {
        throw Object.assign(new Error(`GET ${request.path}`), { code: 'notAllowed' });
      }
      return wire({ status: 200, contentType: 'application/json' }, []);
    });
    const refused = await refusal(data(client.config.get()));
    expect([refused.code, refused.message]).toEqual(['notAllowed', 'GET /config']);
    await expect(data(client.session.list())).resolves.toEqual([]);
  });

  it('an answer that is no JSON is refused', async () => {
    mockIPC(() => new TextEncoder().encode('{"status":200,"contentType":"application/json"}\n{"id":').buffer);
    const refused = await refusal(data(client.session.get({ sessionID: 'ses_1' })));
    expect(refused.code).toBe('internal');
  });
});

describe('said', () => {
  it.each<[unknown, string]>([
    ['in words', 'in words'],
    [null, 'null'],
    [{ name: 'BadRequest', data: { message: 'Missing key' } }, 'Missing key'],
    [{ _tag: 'SessionBusyError', message: 'it is busy' }, 'it is busy'],
    [{ name: 'Odd', data: {} }, 'Odd'],
    [{ _tag: 'BadRequest' }, '{"_tag":"BadRequest"}'],
  ])('%j', (error, words) => {
    expect(said(error)).toBe(words);
  });
});
