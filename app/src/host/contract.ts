/**
 * What the page may ask the host, and what it gets: the one place on this side where the names stand. A test
 * of the host compares them with its own list.
 */

/** The host's commands. */
export const COMMANDS = [
  'server_call',
  'server_events',
  'models',
  'server_attach',
  'server_manage',
  'server_choice',
  'preferences',
  'preferences_set',
  'drafts',
  'draft_set',
  'pick_folder',
  'open_external',
  'diagnostics',
  'take_open',
  'painted',
  'quit',
] as const;

export type CommandName = (typeof COMMANDS)[number];

/** The host's events. */
export const EVENTS = {
  open: 'app://open',
  preferences: 'app://preferences',
  closeHint: 'app://close-hint',
} as const;

/** A request to the OpenCode server. `path` is without its query; `body` is JSON. */
export interface ServerRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query: [string, string][];
  body: string | null;
}

/** The first line of an answer to `server_call`; the server's body follows it. */
export interface ServerAnswerHead {
  status: number;
  /** `null`: the answer has none, as one without a body. */
  contentType: string | null;
  nextCursor?: string;
}

/** One event of the server, from any of its folders. */
export interface ServerEvent {
  directory: string | null;
  type: string;
  properties: unknown;
}

/** What a window's stream tells, at most once per frame. */
export type StreamMessage =
  | { kind: 'events'; events: ServerEvent[] }
  /** The stream is open, or open again: whatever came before may have been missed. */
  | { kind: 'resync' }
  /** The line is lost. Epoch milliseconds. */
  | { kind: 'away'; since: number; nextTryAt: number | null };

/** A model that may be chosen. Prices are US dollars per million tokens, limits are tokens. */
export interface Model {
  id: string;
  name: string;
  contextLimit: number | null;
  outputLimit: number | null;
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number } | null;
  variants: string[];
  attachments: boolean;
  images: boolean;
  pdf: boolean;
  reasoning: boolean;
}

export interface Provider {
  id: string;
  name: string;
  models: Model[];
}

export interface Agent {
  name: string;
  description: string | null;
  mode: 'primary' | 'subagent' | 'all';
  hidden: boolean;
  model: { providerId: string; modelId: string } | null;
  color: string | null;
}

/** Names, limits and prices; never a key. */
export interface Models {
  providers: Provider[];
  /** The model that OpenCode's configuration names; `null` where it names none and the server chooses. */
  configured: { providerId: string; modelId: string } | null;
  agents: Agent[];
}

/** Which server is used. */
export type ServerChoice = { keyring: boolean } & (
  | { kind: 'managed' }
  | {
      kind: 'attached';
      url: string;
      username: string | null;
      passwordKept: boolean;
      needsPassword: boolean;
    }
);

export interface ModelChoice {
  providerId: string;
  modelId: string;
  variant: string | null;
}

/** What the app remembers of how it is used. Widths are CSS pixels, times epoch milliseconds. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  language: 'system' | 'en' | 'fr';
  sidebarWidth: number;
  sidebarOpen: boolean;
  panelOpen: boolean;
  panelWidth: number;
  /** Closing the window keeps goals running. */
  keepRunning: boolean;
  closeHintSeen: boolean;
  autostart: boolean;
  expandReasoning: boolean;
  expandTools: boolean;
  sendWithEnter: boolean;
  lastDirectory: string | null;
  lastSession: string | null;
  collapsedProjects: string[];
  model: ModelChoice | null;
  agent: string | null;
  /** Session → when it was last looked at. */
  seen: Record<string, number>;
}

export interface Attachment {
  name: string;
  mime: string;
  /** A `data:` or `file:` address. */
  url: string;
}

/** A message that is not sent yet. */
export interface Draft {
  text: string;
  attachments: Attachment[];
  /** The message becomes a goal. */
  armed: boolean;
  /** The goal's limit in tokens; none without one. */
  budget: number | null;
}

/** What a link or a notification asked to open. */
export interface OpenRequest {
  sessionId: string;
  directory: string | null;
}

/** How the host refuses; `message` is for people who look for the cause. */
export interface Refusal {
  code: string;
  message: string;
}
