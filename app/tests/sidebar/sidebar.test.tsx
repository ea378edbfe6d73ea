import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { navigation, openSession } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { server } from '../../src/server/store';
import { DeleteDialog } from '../../src/sidebar/DeleteDialog';
import { Sidebar } from '../../src/sidebar/Sidebar';
import { endHost, fakeHost, giveHeight, know, reset, session, show, Status, type Fake } from '../frame/fake';

let fake: Fake;
let takeHeight: () => void;

beforeEach(() => {
  fake = fakeHost();
  takeHeight = giveHeight(600);
  reset();
});

afterEach(async () => {
  await endHost();
  takeHeight();
});

const WEBSITE = '/home/ada/website';

function three(): void {
  know([
    session('ses_a', { title: 'Alpha', time: { created: 1, updated: 30 } }),
    session('ses_b', { title: 'Beta', time: { created: 1, updated: 20 } }),
    session('ses_c', { title: 'Gamma', directory: WEBSITE, time: { created: 1, updated: 10 } }),
  ]);
}

function page() {
  return show(
    <>
      <Sidebar />
      <DeleteDialog />
    </>,
  );
}

/** The lines as a screen reader names them, without their ages. */
function lines(): string[] {
  return screen.getAllByRole('treeitem').map((item) => {
    const title = item.querySelector('[id^="title-"], [id^="folder-"]');
    return title?.textContent ?? '';
  });
}

function line(title: string): HTMLElement {
  const found = screen.getByText(title).closest<HTMLElement>('[role="treeitem"]');
  if (found === null) throw new Error(`no line ${title}`);
  return found;
}

async function focused(title: string): Promise<void> {
  await waitFor(() => { expect(document.activeElement).toBe(line(title)); });
}

describe('the list', () => {
  it('shows sessions below their folders and opens one', async () => {
    three();
    page();
    expect(lines()).toEqual(['exporter', 'Alpha', 'Beta', 'website', 'Gamma']);
    await userEvent.click(screen.getByText('Gamma'));
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_c' });
    expect(line('Gamma').getAttribute('aria-selected')).toBe('true');
  });

  it('marks the session whose sub-agent is shown', () => {
    know([session('ses_a', { title: 'Alpha' }), session('ses_k', { parentID: 'ses_a' })]);
    openSession('ses_k');
    page();
    expect(line('Alpha').getAttribute('aria-selected')).toBe('true');
  });

  it('says what runs, what waits and what is new', () => {
    three();
    const ago = { created: 1, updated: Date.now() + 60_000 };
    server.setState(({ sessions }) => ({
      sessions: { ...sessions, ses_c: session('ses_c', { title: 'Gamma', directory: WEBSITE, time: ago }) },
      status: { ses_a: { type: 'busy' } },
      questions: { que_1: { id: 'que_1', sessionID: 'ses_b' } as never },
    }));
    page();
    expect(within(line('Alpha')).getByRole('img', { name: 'Running' })).toBeTruthy();
    expect(within(line('Beta')).getByRole('img', { name: 'Waiting for you' })).toBeTruthy();
    expect(within(line('Gamma')).getByRole('img', { name: 'Something new' })).toBeTruthy();
    act(() => { preferences.setState({ seen: { ses_c: ago.updated } }); });
    expect(within(line('Gamma')).queryByRole('img', { name: 'Something new' })).toBeNull();
  });

  it('closes a folder, remembers it, and opens it again', async () => {
    three();
    page();
    await userEvent.click(screen.getByText('exporter'));
    expect(lines()).toEqual(['exporter', 'website', 'Gamma']);
    const set = fake.commands.find(({ name }) => name === 'preferences_set');
    expect(set?.args).toEqual({ patch: { collapsedProjects: ['/home/ada/exporter'] } });
    await userEvent.click(screen.getByText('exporter'));
    expect(lines()).toHaveLength(5);
  });

  it('starts a session in a folder', async () => {
    three();
    page();
    await userEvent.click(screen.getByRole('button', { name: 'New session in website' }));
    expect(navigation.getState().place).toEqual({ kind: 'draft', directory: WEBSITE });
  });

  it('draws only what is seen of a thousand sessions', () => {
    know(Array.from({ length: 1_000 }, (_, at) => session(`ses_${at}`, { time: { created: 1, updated: at } })));
    page();
    expect(screen.getAllByRole('treeitem').length).toBeLessThan(60);
    expect(line('Title of ses_999').getAttribute('aria-setsize')).toBe('1000');
  });
});

describe('the keyboard', () => {
  it('moves through the lines, with one of them in the order of Tab', async () => {
    three();
    page();
    act(() => { line('exporter').focus(); });
    const user = userEvent.setup();
    await user.keyboard('{ArrowDown}');
    await focused('Alpha');
    expect(screen.getAllByRole('treeitem').filter((item) => item.tabIndex === 0)).toEqual([line('Alpha')]);
    await user.keyboard('{End}');
    await focused('Gamma');
    await user.keyboard('{ArrowLeft}');
    await focused('website');
    await user.keyboard('{ArrowLeft}');
    expect(lines()).not.toContain('Gamma');
    await user.keyboard('{ArrowRight}');
    expect(lines()).toContain('Gamma');
    await user.keyboard('{ArrowRight}');
    await focused('Gamma');
    await user.keyboard('{Enter}');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_c' });
    await user.keyboard('{Home}');
    await focused('exporter');
  });

  it('renames in the line: Enter saves, Escape does not', async () => {
    three();
    fake.routes['PATCH /session/ses_a'] = () => session('ses_a', { title: 'Omega' });
    page();
    act(() => { line('Alpha').focus(); });
    const user = userEvent.setup();
    await user.keyboard('{F2}No{Escape}');
    expect(fake.asked).not.toContain('PATCH /session/ses_a');
    await focused('Alpha');
    await user.keyboard('{F2}Omega{Enter}');
    await focused('Omega');
    expect(fake.requests.at(-1)?.body).toBe('{"title":"Omega"}');
  });

  it('keeps the old title and says so where the server refuses the new one', async () => {
    three();
    fake.routes['PATCH /session/ses_a'] = () => new Status(500);
    page();
    act(() => { line('Alpha').focus(); });
    await userEvent.keyboard('{F2}Omega{Enter}');
    expect(await screen.findByText(/OpenCode refused/)).toBeTruthy();
    expect(line('Alpha')).toBeTruthy();
  });

  it('asks before it deletes, and names what goes', async () => {
    three();
    server.setState(({ sessions }) => ({
      sessions: { ...sessions, ses_k: session('ses_k', { parentID: 'ses_b' }) },
    }));
    page();
    act(() => { line('Beta').focus(); });
    const user = userEvent.setup();
    await user.keyboard('{Delete}');
    const dialog = screen.getByRole('dialog', { name: 'Delete “Beta”?' });
    expect(dialog.textContent).toContain('1 session of a sub-agent');
    expect(dialog.textContent).toContain('The files in exporter stay');
    // What is meant to be safe has the focus.
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(fake.asked).not.toContain('DELETE /session/ses_b');
    act(() => { line('Beta').focus(); });
    await user.keyboard('{Delete}');
    await user.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() => { expect(lines()).not.toContain('Beta'); });
    expect(fake.asked).toContain('DELETE /session/ses_b');
  });
});

describe('the menu of a line', () => {
  it('opens by right click and archives', async () => {
    three();
    fake.routes['PATCH /session/ses_a'] = () => session('ses_a', { time: { created: 1, updated: 1, archived: 9 } });
    page();
    fireEvent.contextMenu(line('Alpha'));
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Archive' }));
    await waitFor(() => { expect(lines()).not.toContain('Alpha'); });
    expect(fake.requests.at(-1)?.body).toMatch(/^\{"time":\{"archived":\d{13}\}\}$/);
  });

  it('begins to rename with the focus in the field', async () => {
    three();
    page();
    await userEvent.click(screen.getByRole('button', { name: 'Actions for “Alpha”' }));
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Rename' }));
    const field = await screen.findByRole('textbox', { name: 'Title of the session' });
    expect(document.activeElement).toBe(field);
  });

  it('copies the id', async () => {
    const user = userEvent.setup();
    three();
    page();
    await user.click(screen.getByRole('button', { name: 'Actions for “Beta”' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Copy id' }));
    expect(await navigator.clipboard.readText()).toBe('ses_b');
  });
});

describe('the search', () => {
  it('finds at once what is known and then what only the server knows, in closed folders, too', async () => {
    three();
    preferences.setState({ collapsedProjects: [WEBSITE] });
    fake.routes['GET /experimental/session'] = () => [
      session('ses_old', { title: 'Gamma of old', directory: WEBSITE }),
    ];
    page();
    await userEvent.type(screen.getByRole('searchbox'), 'gam');
    await waitFor(() => { expect(lines()).toEqual(['website', 'Gamma']); });
    await waitFor(() => { expect(lines()).toEqual(['website', 'Gamma', 'Gamma of old']); });
    expect(fake.asked.filter((asked) => asked === 'GET /experimental/session')).toHaveLength(1);
    expect(fake.requests.at(-1)?.query).toContainEqual(['search', 'gam']);
    await userEvent.keyboard('{Escape}');
    await waitFor(() => { expect(lines()).toEqual(['exporter', 'Alpha', 'Beta', 'website']); });
  });

  it('says that nothing fits, and with what it searched', async () => {
    three();
    page();
    await userEvent.type(screen.getByRole('searchbox'), 'zzz');
    expect(await screen.findByText('No session and no folder has “zzz” in its name.')).toBeTruthy();
  });

  it('says that older sessions could not be searched', async () => {
    three();
    fake.routes['GET /experimental/session'] = () => new Status(500);
    page();
    await userEvent.type(screen.getByRole('searchbox'), 'alp');
    expect(await screen.findByText('Older sessions could not be searched.')).toBeTruthy();
    expect(lines()).toContain('Alpha');
  });

  it('shows the archived ones instead, read from the server', async () => {
    three();
    fake.routes['GET /experimental/session'] = () => [
      session('ses_z', { title: 'Put away', time: { created: 1, updated: 1, archived: 2 } }),
    ];
    page();
    await userEvent.click(screen.getByRole('button', { name: 'Archived sessions' }));
    await waitFor(() => { expect(lines()).toEqual(['exporter', 'Put away']); });
    expect(fake.requests.at(-1)?.query).toContainEqual(['archived', 'true']);
    await userEvent.click(screen.getByRole('button', { name: 'Archived sessions' }));
    await waitFor(() => { expect(lines()).toContain('Alpha'); });
  });
});

describe('without a list', () => {
  it('shows that it is read', () => {
    server.setState({ connection: { kind: 'live' }, listing: 'loading' });
    page();
    expect(screen.getByRole('status', { name: 'Loading…' })).toBeTruthy();
  });

  it('says that there is no session and starts one in a chosen folder', async () => {
    know([]);
    fake.folder = '/home/ada/new';
    page();
    const empty = screen.getByText('No sessions yet').parentElement;
    if (empty === null) throw new Error('no message');
    await userEvent.click(within(empty).getByRole('button', { name: 'New session' }));
    await waitFor(() => {
      expect(navigation.getState().place).toEqual({ kind: 'draft', directory: '/home/ada/new' });
    });
  });

  it('says that it could not be read and reads it again', async () => {
    know([], { listing: 'failed' });
    fake.routes['GET /experimental/session'] = () => [session('ses_a', { title: 'Alpha' })];
    page();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Alpha')).toBeTruthy();
  });

  it('says that the server is away', () => {
    know([], { listing: 'loading', connection: { kind: 'away', since: 0, nextTryAt: null } });
    page();
    expect(screen.getByText('OpenCode is not reachable')).toBeTruthy();
  });

  it('says that OpenCode is not set up', async () => {
    know([], { listing: 'loading', connection: { kind: 'starting' } });
    fake.status = { ...fake.status, state: 'failed', code: 'openCodeMissing' };
    page();
    expect(await screen.findByText('Your sessions show here as soon as OpenCode is set up.')).toBeTruthy();
    expect(screen.getByText('not set up')).toBeTruthy();
  });
});

describe('the foot', () => {
  it('says how the server stands', async () => {
    vi.setSystemTime(new Date(2026, 5, 15, 14, 0, 0));
    three();
    page();
    expect(await screen.findByText('connected')).toBeTruthy();
    const nextTryAt = Date.now() + 120_000;
    act(() => { server.setState({ connection: { kind: 'away', since: Date.now(), nextTryAt } }); });
    expect(screen.getByText('away, tries again at 14:02')).toBeTruthy();
    await userEvent.click(screen.getByText('away, tries again at 14:02'));
    expect(navigation.getState().overlay).toEqual({ kind: 'settings', page: 'server' });
    vi.useRealTimers();
  });

  it('opens the settings', async () => {
    three();
    page();
    await userEvent.click(screen.getByRole('button', { name: 'Settings' }));
    expect(navigation.getState().overlay).toEqual({ kind: 'settings', page: 'general' });
  });
});
