import { describe, expect, it } from 'vitest';

import { groupsOf, isUnread, linesOf, marksOf, rootOf, shortName } from '../../src/sidebar/groups';
import { age } from '../../src/sidebar/time';
import { session } from '../frame/fake';

const ALL = { query: '', archived: false };

function at(id: string, updated: number, directory = '/home/ada/exporter', title = id) {
  return session(id, { directory, title, time: { created: 1, updated } });
}

describe('the groups', () => {
  it('stand in the order of their newest activity, and so do their sessions', () => {
    const groups = groupsOf([at('a', 1), at('b', 3, '/home/ada/website'), at('c', 2)], ALL);
    expect(groups.map(({ name, sessions }) => [name, sessions.map(({ id }) => id)])).toEqual([
      ['website', ['b']],
      ['exporter', ['c', 'a']],
    ]);
  });

  it('list neither sub-agents nor the archived ones', () => {
    const child = session('child', { parentID: 'a' });
    const archived = session('archived', { time: { created: 1, updated: 1, archived: 5 } });
    const undone = session('undone', { time: { created: 1, updated: 1, archived: 0 } });
    const ids = (archivedToo: boolean): string[] =>
      groupsOf([at('a', 2), child, archived, undone], { query: '', archived: archivedToo })
        .flatMap(({ sessions }) => sessions.map(({ id }) => id));
    expect(ids(false)).toEqual(['a', 'undone']);
    expect(ids(true)).toEqual(['archived']);
  });

  it('find words in titles and folders, whatever their case and accents', () => {
    const sessions = [at('a', 1, '/srv/exporter', 'Réparer les tests'), at('b', 2, '/srv/site', 'Docs')];
    const found = (query: string): string[] =>
      groupsOf(sessions, { query, archived: false }).flatMap((group) => group.sessions.map(({ id }) => id));
    expect(found('REPARER')).toEqual(['a']);
    expect(found('tests exporter')).toEqual(['a']);
    expect(found('site')).toEqual(['b']);
    expect(found('tests site')).toEqual([]);
  });

  it('name the parent where two folders have the same name', () => {
    const groups = groupsOf([at('a', 3, '/home/me/app'), at('b', 2, '/home/app'), at('c', 1, '/home/lib')], ALL);
    expect(groups.map(({ name }) => name)).toEqual(['me/app', 'home/app', 'lib']);
  });

  it('know the folders of Windows and the root', () => {
    expect(shortName('C:\\Users\\Ada\\exporter')).toBe('exporter');
    expect(shortName('/home/ada/exporter/')).toBe('exporter');
    expect(shortName('/')).toBe('/');
  });
});

describe('the lines', () => {
  it('leave out what is in a closed folder', () => {
    const groups = groupsOf([at('a', 2), at('b', 1, '/home/ada/website')], ALL);
    expect(linesOf(groups, ['/home/ada/exporter']).map(({ key }) => key)).toEqual([
      'folder:/home/ada/exporter',
      'folder:/home/ada/website',
      'b',
    ]);
  });
});

describe('the marks', () => {
  const sessions = {
    a: session('a'),
    child: session('child', { parentID: 'a' }),
    b: session('b'),
  };

  it('are those of a session and of all below it', () => {
    const request = { id: 'per_1', sessionID: 'child' } as never;
    const marks = marksOf(sessions, { child: { type: 'busy' }, b: { type: 'idle' } }, [request]);
    expect([...marks.running].sort()).toEqual(['a', 'child']);
    expect([...marks.waiting].sort()).toEqual(['a', 'child']);
  });

  it('lead from a sub-agent to the session it belongs to, in circles, too', () => {
    expect(rootOf(sessions, 'child')).toBe('a');
    expect(rootOf(sessions, 'unknown')).toBe('unknown');
    const circle = { x: session('x', { parentID: 'y' }), y: session('y', { parentID: 'x' }) };
    expect(['x', 'y']).toContain(rootOf(circle, 'x'));
    expect(marksOf(circle, { x: { type: 'busy' } }, []).running.size).toBe(2);
  });

  it('show news since the last look, and without one since the page began', () => {
    expect(isUnread(at('a', 10), { a: 9 }, 100)).toBe(true);
    expect(isUnread(at('a', 10), { a: 10 }, 0)).toBe(false);
    expect(isUnread(at('a', 10), {}, 9)).toBe(true);
    expect(isUnread(at('a', 10), {}, 10)).toBe(false);
  });
});

describe('ages', () => {
  const NOW = Date.UTC(2026, 5, 15, 12);
  const MINUTE = 60_000;

  it.each([
    [0, '1m', '1min'],
    [-5 * MINUTE, '1m', '1min'],
    [59 * MINUTE, '59m', '59min'],
    [60 * MINUTE, '1h', '1h'],
    [24 * 60 * MINUTE, '1d', '1j'],
    [6.9 * 24 * 60 * MINUTE, '6d', '6j'],
    [8 * 24 * 60 * MINUTE, 'Jun 7', '7 juin'],
    [400 * 24 * 60 * MINUTE, 'May 11, 2025', '11 mai 2025'],
  ])('of %d ms are %s and %s', (ago, english, french) => {
    expect(age(NOW - ago, NOW, 'en')).toBe(english);
    expect(age(NOW - ago, NOW, 'fr')).toBe(french);
  });
});
