/** The simulated host's own part: preferences, drafts, which server. What a reload must not lose is kept in the tab. */
import { emit } from '@tauri-apps/api/event';

import { EVENTS, type Draft, type Preferences, type ServerChoice } from '../../src/host/contract';
import { DEFAULTS } from '../../src/preferences';
import type { Goals } from './goals';
import { EXPORTER, WEBSITE } from './make';
import { MODELS } from './project';
import { Refused, type World } from './world';

/** Each scene has its own. */
const PLACE = new URLSearchParams(location.search).get('scene') ?? '';

function kept<T>(key: string, usual: T): T {
  const text = sessionStorage.getItem(`${PLACE} ${key}`);
  return text === null ? usual : (JSON.parse(text) as T);
}

export class App {
  readonly #world: World;
  readonly #goals: Goals;
  #preferences: Preferences;
  #drafts: Record<string, Draft>;
  #choice: ServerChoice = { kind: 'managed', keyring: true };
  /** Addresses that would have been opened in the system's browser. */
  readonly opened: string[] = [];

  /** `usual` holds until something is set, `asked` always. */
  constructor(
    world: World,
    goals: Goals,
    { usual, asked }: Record<'usual' | 'asked', Partial<Preferences>>,
  ) {
    this.#world = world;
    this.#goals = goals;
    this.#preferences = { ...DEFAULTS, ...kept('preferences', usual), ...asked };
    this.#drafts = kept<Record<string, Draft>>('drafts', {});
  }

  /** Commands without `server_call` and `server_events`. */
  answer(command: string, args: Record<string, unknown>): unknown {
    switch (command) {
      case 'models':
        if (!this.#world.up) throw new Refused('notConnected', 'there is no line to the server');
        return MODELS;
      case 'server_choice':
        return this.#choice;
      case 'server_attach':
        return this.#attach(args as { url: string; username: string | null; keep: boolean });
      case 'server_manage':
        this.#choice = { kind: 'managed', keyring: true };
        return this.#goals.setServer({ managed: true, url: 'http://127.0.0.1:4096' });
      case 'preferences':
        return this.#preferences;
      case 'preferences_set':
        return this.#set(args['patch'] as Partial<Preferences>);
      case 'drafts':
        return this.#drafts;
      case 'draft_set':
        return this.#keepDraft(args as { key: string; draft: Draft | null });
      default:
        return this.#rest(command, args);
    }
  }

  #rest(command: string, args: Record<string, unknown>): unknown {
    switch (command) {
      case 'pick_folder':
        return args['start'] === EXPORTER ? WEBSITE : EXPORTER;
      case 'open_external':
        this.opened.push(String(args['url']));
        return null;
      case 'diagnostics':
        return 'OpenChamber 0.1.0\nOpenCode 1.18.33, connected, driving\nGoals: 1 active\n';
      case 'take_open':
      case 'painted':
      case 'quit':
        return null;
      default:
        throw new Refused('notAllowed', `the simulated host knows no ${command}`);
    }
  }

  #attach({ url, username, keep }: { url: string; username: string | null; keep: boolean }): unknown {
    if (!/^https?:\/\/\S+$/.test(url)) throw new Refused('invalid', `no address of a server: ${url}`);
    this.#choice = {
      kind: 'attached',
      url,
      username,
      passwordKept: keep,
      needsPassword: false,
      keyring: true,
    };
    return this.#goals.setServer({ managed: false, url, state: 'connected', code: null, reason: '' });
  }

  #set(patch: Partial<Preferences>): Preferences {
    const unknown = Object.keys(patch).find((key) => !(key in DEFAULTS));
    if (unknown !== undefined) throw new Refused('invalid', `unknown preference: ${unknown}`);
    this.#preferences = { ...this.#preferences, ...patch };
    sessionStorage.setItem(`${PLACE} preferences`, JSON.stringify(this.#preferences));
    void emit(EVENTS.preferences, this.#preferences);
    return this.#preferences;
  }

  #keepDraft({ key, draft }: { key: string; draft: Draft | null }): null {
    const { [key]: before, ...others } = this.#drafts;
    const now = draft ?? undefined;
    if (before !== undefined || now !== undefined) {
      this.#drafts = now === undefined ? others : { ...others, [key]: now };
    }
    sessionStorage.setItem(`${PLACE} drafts`, JSON.stringify(this.#drafts));
    return null;
  }
}
