import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import i18next from 'i18next';
import { useState } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { changeDraft } from '../../src/drafts';
import { Boundary } from '../../src/frame/Boundary';
import { ConnectionBar } from '../../src/frame/ConnectionBar';
import { Frame } from '../../src/frame/Frame';
import { followLanguage } from '../../src/frame/language';
import { lineOf, missingOf } from '../../src/frame/line';
import { Resizer } from '../../src/frame/Resizer';
import { setLanguage } from '../../src/i18n';
import { navigation, openSession } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { server } from '../../src/server/store';
import { CONNECTED, endHost, fakeHost, know, reset, session, show, type Fake } from './fake';

let fake: Fake;

beforeEach(() => {
  fake = fakeHost();
  reset({ lastDirectory: '/home/ada/exporter' });
});

afterEach(endHost);

function resize(width: number): void {
  act(() => { (window as unknown as { happyDOM: { setViewport: (to: { width: number }) => void } }).happyDOM.setViewport({ width }); });
}

describe('the frame', () => {
  afterEach(() => { resize(1_024); });

  it('hides and shows the sidebar and remembers it', async () => {
    know([session('ses_a')]);
    show(<Frame />);
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Hide sidebar' }));
    expect(screen.queryByRole('navigation', { name: 'Sessions' })).toBeNull();
    expect(fake.commands).toContainEqual({ name: 'preferences_set', args: { patch: { sidebarOpen: false } } });
    await userEvent.click(screen.getByRole('button', { name: 'Show sidebar' }));
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeTruthy();
  });

  it('shows sidebar and work status as tabs of a sheet in a narrow window', async () => {
    know([session('ses_a')]);
    resize(360);
    show(<Frame />);
    expect(screen.queryByRole('navigation', { name: 'Sessions' })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show work status' }));
    const status = screen.getByRole('tab', { name: 'Work status' });
    expect(status.getAttribute('aria-selected')).toBe('true');
    await userEvent.click(screen.getByRole('tab', { name: 'Sessions' }));
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeTruthy();
    act(() => { openSession('ses_a'); });
    await waitFor(() => { expect(screen.queryByRole('dialog')).toBeNull(); });
    expect(preferences.getState().sidebarOpen).toBe(true);
  });

  it('shows the work status beside the conversation only where there is room', () => {
    know([]);
    preferences.setState({ panelOpen: true });
    resize(1_024);
    show(<Frame />);
    expect(screen.getByRole('separator', { name: 'Width of the work status' })).toBeTruthy();
    resize(1_000);
    expect(screen.queryByRole('separator', { name: 'Width of the work status' })).toBeNull();
  });

  it('says what is shown and renames it', async () => {
    know([session('ses_a', { title: 'Alpha', agent: 'plan', model: { id: 'big', providerID: 'fake' } })]);
    fake.routes['GET /vcs'] = () => ({ branch: 'topic' });
    fake.routes['PATCH /session/ses_a'] = () => session('ses_a', { title: 'Omega' });
    openSession('ses_a');
    show(<Frame />);
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Alpha');
    const header = screen.getByRole('banner');
    await waitFor(() => { expect(header.textContent).toContain('topic'); });
    expect(header.textContent).toMatch(/exporter.*topic.*plan.*fake\/big/);
    await userEvent.click(screen.getByRole('button', { name: 'Alpha' }));
    await userEvent.keyboard('Omega{Enter}');
    await waitFor(() => { expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Omega'); });
  });

  it('says how to get a server where there is none', async () => {
    know([], { connection: { kind: 'starting' }, listing: 'loading' });
    fake.status = { ...CONNECTED, state: 'failed', code: 'openCodeMissing' };
    show(<Frame />);
    expect(await screen.findByRole('heading', { name: 'OpenCode was not found' })).toBeTruthy();
  });
});

describe('a width', () => {
  function Part({ onDone }: { onDone: (width: number) => void }) {
    const [width, setWidth] = useState(264);
    const done = (now: number): void => {
      setWidth(now);
      onDone(now);
    };
    return (
      <Resizer label="Width" {...{ width }} min={200} max={480} usual={264} side="left" onMove={setWidth} onDone={done} />
    );
  }

  function part() {
    const done = vi.fn<(width: number) => void>();
    show(<Part onDone={done} />);
    const edge = screen.getByRole('separator', { name: 'Width' });
    edge.setPointerCapture = () => undefined;
    return { done, edge };
  }

  it('is changed by keys, within its limits', async () => {
    const { done, edge } = part();
    edge.focus();
    await userEvent.keyboard('{ArrowRight}{ArrowLeft}{ArrowLeft}{End}{ArrowRight}{Home}');
    expect(done.mock.calls.flat()).toEqual([280, 264, 248, 480, 480, 200]);
    expect(edge.getAttribute('aria-valuenow')).toBe('200');
  });

  it('is changed by dragging and kept once', () => {
    const { done, edge } = part();
    fireEvent.pointerDown(edge, { clientX: 264, button: 0 });
    fireEvent.pointerMove(edge, { clientX: 300 });
    expect(edge.getAttribute('aria-valuenow')).toBe('300');
    fireEvent.pointerMove(edge, { clientX: 900 });
    expect(done).not.toHaveBeenCalled();
    fireEvent.pointerUp(edge);
    fireEvent.pointerMove(edge, { clientX: 250 });
    expect(done.mock.calls).toEqual([[480]]);
  });

  it('is the usual one after a double click', () => {
    const { done, edge } = part();
    fireEvent.doubleClick(edge);
    expect(done).toHaveBeenCalledWith(264);
  });
});

describe('the line', () => {
  it('is known from the plugin where the stream never began', () => {
    const failed = { ...CONNECTED, state: 'failed', code: 'unreachable' } as const;
    expect(lineOf({ kind: 'starting' }, failed).kind).toBe('away');
    expect(lineOf({ kind: 'starting' }, CONNECTED).kind).toBe('starting');
    expect(lineOf({ kind: 'live' }, failed).kind).toBe('live');
    const away = { kind: 'away', since: 0, nextTryAt: null } as const;
    expect(lineOf(away, { ...CONNECTED, state: 'starting' }).kind).toBe('starting');
    expect(lineOf(away, CONNECTED).kind).toBe('away');
  });

  it('lacks what only a person can supply', () => {
    expect(missingOf(undefined)).toBeNull();
    expect(missingOf(CONNECTED)).toBeNull();
    expect(missingOf({ ...CONNECTED, state: 'away', code: 'unreachable' })).toBeNull();
    expect(missingOf({ ...CONNECTED, state: 'failed', code: 'openCodeMissing' })).toBe('program');
    expect(missingOf({ ...CONNECTED, state: 'failed', code: 'unauthorized' })).toBe('password');
    expect(missingOf({ ...CONNECTED, state: 'none' })).toBe('server');
  });

  it('is said to be lost after ten seconds, with the next try and one at once', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, now: new Date(2026, 5, 15, 14, 0, 0) });
    try {
      know([]);
      show(<ConnectionBar />);
      const since = Date.now();
      act(() => { server.setState({ connection: { kind: 'away', since, nextTryAt: since + 125_000 } }); });
      await act(() => vi.advanceTimersByTimeAsync(9_000));
      expect(screen.queryByText(/not reachable/)).toBeNull();
      await act(() => vi.advanceTimersByTimeAsync(1_100));
      expect(
        screen.getByText('OpenCode is not reachable. Your goals are safe; next try at 14:02.'),
      ).toBeTruthy();
      fireEvent.click(screen.getByRole('button', { name: 'Try now' }));
      await waitFor(() => {
        const asked = fake.commands.find(({ name }) => name === 'plugin:goal|server_connect');
        expect(asked?.args).toMatchObject({ server: null });
      });
      await act(() => vi.advanceTimersByTimeAsync(125_000));
      expect(screen.getByText(/trying again…/)).toBeTruthy();
      act(() => { server.setState({ connection: { kind: 'live' } }); });
      expect(screen.queryByText(/not reachable/)).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a fault', () => {
  function Faulty(): never {
    throw new Error('the tape is torn');
  }

  it('in one part leaves the others, says what happened, and is copied and reloaded', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
    const reload = vi.spyOn(window.location, 'reload').mockReturnValue(undefined);
    const user = userEvent.setup();
    show(
      <>
        <Boundary area="chat"><Faulty /></Boundary>
        <Boundary area="sidebar"><p>The list</p></Boundary>
      </>,
    );
    expect(screen.getByText('The list')).toBeTruthy();
    const alert = screen.getByRole('alert');
    expect(alert.textContent).toContain('The conversation could not be shown.');
    expect(alert.textContent).toContain('the tape is torn');
    await user.click(screen.getByRole('button', { name: 'Copy details' }));
    expect(await navigator.clipboard.readText()).toMatch(/OpenChamber, chat\nError: the tape is torn[^]*Faulty/);
    changeDraft('new', { text: 'half a sentence' });
    await user.click(screen.getByRole('button', { name: 'Reload' }));
    await waitFor(() => { expect(reload).toHaveBeenCalledOnce(); });
    expect(fake.commands.some(({ name }) => name === 'draft_set')).toBe(true);
    vi.restoreAllMocks();
  });
});

describe('the language', () => {
  it('changes with the preference', async () => {
    const end = followLanguage();
    preferences.setState({ language: 'fr' });
    await waitFor(() => { expect(i18next.language).toBe('fr'); });
    expect(document.documentElement.lang).toBe('fr');
    end();
    preferences.setState({ language: 'en' });
    expect(i18next.language).toBe('fr');
    await setLanguage('en');
  });
});

describe('an overlay', () => {
  it('stands over the page and goes', async () => {
    know([]);
    show(<Frame />);
    await userEvent.keyboard('{Control>}/{/Control}');
    expect(screen.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeTruthy();
    await userEvent.keyboard('{Escape}');
    expect(navigation.getState().overlay).toBeNull();
  });
});
