import { describe, expect, it } from 'vitest';

import { resolve } from '../../src/composer/choice';
import { readFiles } from '../../src/composer/files';
import { folderName, recentFolders } from '../../src/composer/folders';
import { reasonOf, type Situation } from '../../src/composer/hint';
import { isComposing, isSend, isStop } from '../../src/composer/keys';
import { absolute, fileUrl, mention, mentionsIn, named } from '../../src/composer/mentions';
import { ownCommand, parseSlash } from '../../src/composer/slash';
import { completed, tokenAt } from '../../src/composer/token';
import { matching } from '../../src/composer/useCompletion';
import { NO_DRAFT } from '../../src/drafts';
import { session, user } from '../server/fixtures';
import { MODELS } from './fake';

describe('slash commands', () => {
  it.each([
    ['/review', { name: 'review', arguments: '' }],
    ['  /review main  ', { name: 'review', arguments: 'main' }],
    ['/git/commit a  b\nc', { name: 'git/commit', arguments: 'a  b\nc' }],
    ['/review\nthe last line', { name: 'review', arguments: 'the last line' }],
    ['/', null],
    ['/ review', null],
    ['see /review', null],
    ['', null],
  ])('%j', (text, slash) => {
    expect(parseSlash(text)).toEqual(slash);
  });

  it('are the page’s own only without arguments and files', () => {
    expect(ownCommand({ text: '/undo ', attachments: [] })).toBe('undo');
    expect(ownCommand({ text: '/undo that', attachments: [] })).toBeNull();
    expect(ownCommand({ text: '/review', attachments: [] })).toBeNull();
    expect(ownCommand({ text: '/new', attachments: [mention('/w', 'a')] })).toBeNull();
  });
});

describe('what is completed', () => {
  it.each([
    ['/re', 3, { kind: 'command', start: 0, end: 3, query: 're' }],
    ['/review main', 12, null],
    ['/review main', 4, { kind: 'command', start: 0, end: 4, query: 'rev' }],
    ['see /re', 7, null],
    ['see @src/e', 10, { kind: 'file', start: 4, end: 10, query: 'src/e' }],
    ['@', 1, { kind: 'file', start: 0, end: 1, query: '' }],
    ['(@a', 3, { kind: 'file', start: 1, end: 3, query: 'a' }],
    ['/review @a', 10, { kind: 'file', start: 8, end: 10, query: 'a' }],
    ['ada@example', 11, null],
    ['see @a now', 10, null],
  ])('%j at %i', (text, caret, token) => {
    expect(tokenAt(text, caret)).toEqual(token);
  });

  it('stands in the text with one space behind it', () => {
    const token = { kind: 'file', start: 4, end: 6, query: 'e' } as const;
    expect(completed('see @e', token, '@src/e.ts')).toEqual({ text: 'see @src/e.ts ', caret: 14 });
    expect(completed('see @e now', token, '@src/e.ts')).toEqual({ text: 'see @src/e.ts now', caret: 14 });
    expect(completed('see @e\nnow', token, '@src/e.ts')).toEqual({ text: 'see @src/e.ts\nnow', caret: 13 });
  });

  it('are commands with the typed text in the name, those that begin with it first', () => {
    const options = ['/compact', '/undo', '/redo', '/do'].map((value) => ({ value, detail: null, path: null }));
    expect(matching(options, 'DO').map(({ value }) => value)).toEqual(['/do', '/redo', '/undo']);
    expect(matching(options, '')).toHaveLength(4);
  });
});

describe('mentions', () => {
  it('have the absolute address of the file, on every system', () => {
    expect(fileUrl(absolute('/home/ada/my work', 'src/a#b?.ts'))).toBe('file:///home/ada/my%20work/src/a%23b%3F.ts');
    expect(fileUrl(absolute('C:\\project\\', 'src/é.ts'))).toBe('file:///C:/project/src/%C3%A9.ts');
    expect(mention('/w', 'src/').url).toBe('file:///w/src/');
  });

  it('are found where the text names them whole', () => {
    const file = mention('/w', 'src/a.ts');
    const places = (text: string): number[] => mentionsIn(text, [file]).map(({ start }) => start);
    expect(places('see @src/a.ts, please')).toEqual([4]);
    expect(places('(@src/a.ts)')).toEqual([1]);
    expect(places('see @src/a.tsx')).toEqual([]);
    expect(places('@src/a.tsx and @src/a.ts')).toEqual([15]);
    expect(places('x@src/a.ts')).toEqual([]);
    expect(places('src/a.ts')).toEqual([]);
  });

  it('do not go along when the text names them no more; other files do', () => {
    const [a, b] = [mention('/w', 'a'), mention('/w', 'b')];
    const image = { name: 'a.png', mime: 'image/png', url: 'data:image/png;base64,AA==' };
    expect(named('see @b', [a, image, b])).toEqual([image, b]);
  });
});

describe('keys', () => {
  const key = { key: 'Enter', shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };

  it('send as the preference says', () => {
    expect(isSend(key, true)).toBe(true);
    expect(isSend(key, false)).toBe(false);
    expect(isSend({ ...key, ctrlKey: true }, false)).toBe(true);
    expect(isSend({ ...key, metaKey: true }, true)).toBe(true);
    expect(isSend({ ...key, shiftKey: true }, true)).toBe(false);
    expect(isSend({ ...key, key: 'a' }, true)).toBe(false);
  });

  it('mean nothing while a character is composed', () => {
    expect(isComposing({ isComposing: true, keyCode: 13 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false);
  });

  it('stop with Ctrl or Cmd and a full stop only', () => {
    expect(isStop({ ...key, key: '.', ctrlKey: true })).toBe(true);
    expect(isStop({ ...key, key: '.', metaKey: true })).toBe(true);
    expect(isStop({ ...key, key: '.' })).toBe(false);
  });
});

describe('the choice', () => {
  const preferred = { agent: 'plan', model: { providerId: 'fake', modelId: 'blind', variant: null } };
  const big = { providerId: 'fake', modelId: 'big', variant: 'high' };
  const last = { ...user('msg_1', 1), model: { providerID: 'fake', modelID: 'big', variant: 'high' } };
  const none = { agent: null, model: null };

  it('is what was chosen here, else the session’s last, else the preferred, else the server’s', () => {
    const chosen = resolve({ here: { agent: 'plan', model: preferred.model }, last, preferred: none, models: MODELS });
    expect(chosen).toEqual({ agent: 'plan', model: preferred.model });
    expect(resolve({ last, preferred, models: MODELS })).toEqual({ agent: 'build', model: big });
    expect(resolve({ preferred, models: MODELS })).toEqual(preferred);
    const usual = { agent: 'build', model: { ...big, variant: null } };
    expect(resolve({ preferred: none, models: MODELS })).toEqual(usual);
    expect(resolve({ preferred: none, models: { ...MODELS, configured: null } }).model).toBeNull();
    expect(resolve({ preferred: none, models: null })).toEqual(none);
  });

  it('passes over what the server does not have', () => {
    const gone = { agent: 'gone', model: { providerId: 'fake', modelId: 'gone', variant: null } };
    expect(resolve({ here: gone, preferred, models: MODELS })).toEqual(preferred);
    const variant = { model: { ...big, variant: 'gone' } };
    expect(resolve({ here: variant, preferred, models: MODELS }).model).toEqual({ ...big, variant: null });
  });

  it('of an agent brings its model, unless one was chosen, too', () => {
    const own = { providerId: 'fake', modelId: 'blind' };
    const models = { ...MODELS, agents: MODELS.agents.map((one) => ({ ...one, model: own })) };
    expect(resolve({ here: { agent: 'plan' }, last, preferred, models }).model).toEqual({ ...own, variant: null });
    expect(resolve({ here: { agent: 'plan', model: big }, last, preferred, models }).model).toEqual(big);
    expect(resolve({ last, preferred, models }).model).toEqual(big);
  });
});

describe('files', () => {
  const refusals = async (files: File[], present: Parameters<typeof readFiles>[1] = []): Promise<unknown[]> =>
    (await readFiles(files, present)).map((one) => ('refused' in one ? one.refused : one.attachment.mime));
  const sized = (name: string, type: string, megabytes: number): File =>
    new File([new Uint8Array(megabytes * 1024 * 1024)], name, { type });

  it('are taken as data', async () => {
    const [read] = await readFiles([new File(['héllo'], 'a.md', { type: 'text/markdown' })], []);
    expect(read).toEqual({
      attachment: { name: 'a.md', mime: 'text/plain', url: `data:text/plain;base64,${btoa('h\u00c3\u00a9llo')}` },
    });
  });

  it('are refused for their kind or their size', async () => {
    expect(await refusals([sized('a.png', 'image/png', 0)])).toEqual(['image/png']);
    expect(await refusals([sized('a.pdf', 'application/pdf', 9), sized('a.mp4', 'video/mp4', 1)])).toEqual(['size', 'kind']);
    expect(await refusals([sized('a.txt', 'text/plain', 1)])).toEqual(['textSize']);
    expect(await refusals([new File([new Uint8Array([0, 1])], 'a.bin')])).toEqual(['kind']);
    expect(await refusals([new File([new Uint8Array([0xff, 0xfe])], 'a.txt', { type: 'text/plain' })])).toEqual(['kind']);
    expect(await refusals([new File(['{}'], 'a.json', { type: 'application/json' })])).toEqual(['text/plain']);
  });

  it('count together with what is there', async () => {
    const url = `data:image/png;base64,${'A'.repeat(18 * 1024 * 1024)}`;
    const present = [{ name: 'b.png', mime: 'image/png', url }];
    expect(await refusals([sized('a.png', 'image/png', 7)], present)).toEqual(['total']);
    const twenty = Array.from({ length: 20 }, () => ({ name: 'b', mime: 'image/png', url: 'data:,' }));
    expect(await refusals([sized('a.png', 'image/png', 0)], twenty)).toEqual(['count']);
  });
});

describe('the line below', () => {
  const situation: Situation = {
    connection: 'live',
    where: { sessionId: null, key: 'new', directory: '/w' },
    models: MODELS,
    choice: { agent: null, model: { providerId: 'fake', modelId: 'blind', variant: null } },
    draft: NO_DRAFT,
    busy: false,
  };
  const file = (mime: string, length = 1): Situation['draft'] => ({
    ...NO_DRAFT,
    attachments: [{ name: 'a', mime, url: 'a'.repeat(length) }],
  });

  it.each<[string | null, Partial<Situation>]>([
    [null, {}],
    ['starting', { connection: 'starting' }],
    ['away', { connection: 'away', draft: file('image/png') }],
    ['noFolder', { where: { ...situation.where, directory: null } }],
    [null, { where: { sessionId: 'ses_a', key: 'ses_a', directory: null } }],
    ['noModel', { models: { ...MODELS, providers: [] } }],
    [null, { models: null }],
    ['images', { draft: file('image/png') }],
    ['pdf', { draft: file('application/pdf') }],
    ['notKept', { draft: file('text/plain', 9 * 1024 * 1024) }],
    ['notKept', { draft: { ...NO_DRAFT, text: 'a'.repeat(100_001) } }],
    ['queues', { busy: true }],
  ])('%s', (reason, change) => {
    expect(reasonOf({ ...situation, ...change })).toBe(reason);
  });
});

describe('folders', () => {
  it('are those of the sessions, the last used first', () => {
    const at = (directory: string, updated: number): ReturnType<typeof session> =>
      session(`ses_${updated}`, { directory, time: { created: 1, updated } });
    expect(recentFolders([at('/a', 1), at('/b', 3), at('/a', 2), at('/b', 1)])).toEqual(['/b', '/a']);
  });

  it.each([
    ['/home/ada/exporter', 'exporter', '/home/ada'],
    ['C:\\work\\exporter\\', 'exporter', 'C:\\work'],
    ['/', '/', ''],
  ])('%s', (path, name, parent) => {
    expect(folderName(path)).toEqual({ name, parent });
  });
});
