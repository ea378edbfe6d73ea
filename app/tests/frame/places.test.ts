import { waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { followPlaces, showLast } from '../../src/frame/places';
import { navigation, openDraft, openSession } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { apply } from '../../src/server/apply';
import { hear } from '../../src/server/sync';
import { server } from '../../src/server/store';
import { endHost, fakeHost, know, reset, session, Status, tell, type Fake } from './fake';

let fake: Fake;
let end: (() => void) | null = null;
let used = true;

beforeEach(() => {
  fake = fakeHost();
  reset();
  used = true;
  vi.spyOn(document, 'hasFocus').mockImplementation(() => used);
});

afterEach(async () => {
  end?.();
  end = null;
  vi.restoreAllMocks();
  await endHost();
});

const place = () => navigation.getState().place;

describe('the first place', () => {
  it('is the session that was shown last, and it is opened', async () => {
    preferences.setState({ lastSession: 'ses_a' });
    showLast();
    end = followPlaces();
    expect(place()).toEqual({ kind: 'session', id: 'ses_a' });
    await waitFor(() => { expect(fake.asked).toContain('GET /session/ses_a/message'); });
  });

  it('is a draft in the folder used last where no session was shown', () => {
    preferences.setState({ lastDirectory: '/home/ada/exporter' });
    showLast();
    expect(place()).toEqual({ kind: 'draft', directory: '/home/ada/exporter' });
  });

  it('is what a link asked for before the page listened', async () => {
    preferences.setState({ lastSession: 'ses_a' });
    fake.open = { sessionId: 'ses_b', directory: null };
    showLast();
    end = followPlaces();
    await waitFor(() => { expect(place()).toEqual({ kind: 'session', id: 'ses_b' }); });
  });

  it('is a draft where the session is gone, which is known once the server answers', async () => {
    preferences.setState({ lastSession: 'ses_gone', lastDirectory: '/home/ada/exporter' });
    fake.routes['GET /session/ses_gone'] = () => new Status(404);
    showLast();
    end = followPlaces();
    hear({ kind: 'resync' });
    await waitFor(() => {
      expect(place()).toEqual({ kind: 'draft', directory: '/home/ada/exporter' });
    });
  });

  it('stays where the server only fails to say so', async () => {
    preferences.setState({ lastSession: 'ses_a' });
    fake.routes['GET /session/ses_a'] = () => new Status(500);
    showLast();
    end = followPlaces();
    hear({ kind: 'resync' });
    await waitFor(() => { expect(server.getState().listing).toBe('ready'); });
    await waitFor(() => {
      expect(fake.asked.filter((asked) => asked === 'GET /session/ses_a').length).toBeGreaterThan(1);
    });
    expect(place()).toEqual({ kind: 'session', id: 'ses_a' });
  });
});

describe('what is asked to be opened', () => {
  it.each(['app://open', 'goal://open'])('by %s is shown', async (event) => {
    end = followPlaces();
    // The listeners stand when the host was asked for what came before.
    await waitFor(() => { expect(fake.commands.some(({ name }) => name === 'take_open')).toBe(true); });
    await tell(event, { sessionId: 'ses_b', directory: '/x' });
    expect(place()).toEqual({ kind: 'session', id: 'ses_b' });
  });
});

describe('a place', () => {
  it('is remembered', () => {
    know([session('ses_a')]);
    end = followPlaces();
    openSession('ses_a');
    expect(preferences.getState()).toMatchObject({
      lastSession: 'ses_a',
      lastDirectory: '/home/ada/exporter',
    });
    openDraft('/home/ada/website');
    expect(preferences.getState()).toMatchObject({ lastSession: null, lastDirectory: '/home/ada/website' });
  });

  it('is left when its session is deleted by anybody', () => {
    know([session('ses_a')]);
    end = followPlaces();
    openSession('ses_a');
    const event = { directory: null, type: 'session.deleted', properties: { info: session('ses_a') } };
    server.setState((state) => apply(state, [event]), true);
    expect(place()).toEqual({ kind: 'draft', directory: '/home/ada/exporter' });
  });

  it('is kept when a list that is read anew lacks its session', () => {
    know([session('ses_a')]);
    end = followPlaces();
    openSession('ses_a');
    server.setState({ sessions: {} });
    expect(place()).toEqual({ kind: 'session', id: 'ses_a' });
  });
});

describe('a look', () => {
  beforeEach(() => { vi.useFakeTimers(); });

  afterEach(() => { vi.useRealTimers(); });

  it('is noted for the session on the screen, now and when it changes', () => {
    know([session('ses_a')]);
    end = followPlaces();
    openSession('ses_a');
    vi.advanceTimersByTime(1_000);
    expect(preferences.getState().seen['ses_a']).toBe(Date.now());
    const later = Date.now() + 60_000;
    const changed = session('ses_a', { time: { created: 1, updated: later } });
    server.setState({ sessions: { ses_a: changed } });
    vi.advanceTimersByTime(1_000);
    expect(preferences.getState().seen['ses_a']).toBe(later);
  });

  it('is not noted while the window is not used', () => {
    used = false;
    know([session('ses_a')]);
    end = followPlaces();
    openSession('ses_a');
    vi.advanceTimersByTime(60_000);
    expect(preferences.getState().seen).toEqual({});
    used = true;
    window.dispatchEvent(new Event('focus'));
    vi.advanceTimersByTime(1_000);
    expect(preferences.getState().seen['ses_a']).toBe(Date.now());
  });
});
