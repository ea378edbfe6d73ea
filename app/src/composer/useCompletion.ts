/** What can be completed at the caret: commands behind a slash, files behind an `@`. */
import type { Command } from '@opencode-ai/sdk/v2/client';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEnabled } from 'tauri-plugin-goal-api/react';

import { CRAFT } from '../origins/craft';
import { useCommands } from './commands';
import { OWN } from './slash';
import { tokenAt, type Token } from './token';
import { useFiles } from './useFiles';

export interface Option {
  /** What stands for it in the text. */
  value: string;
  detail: string | null;
  /** The path of a file; `null` for a command. */
  path: string | null;
}

export interface Completion {
  token: Token | null;
  options: readonly Option[];
  /** An answer is awaited. */
  loading: boolean;
  failed: boolean;
  active: number;
  move: (by: 1 | -1) => void;
  point: (at: number) => void;
  dismiss: () => void;
}

const CLOSED = { token: null, options: [], loading: false, failed: false } as const;

/** Commands whose name holds what was typed; those that begin with it first. */
export function matching(commands: readonly Option[], query: string): Option[] {
  const wanted = query.toLowerCase();
  const rank = ({ value }: Option): number => value.toLowerCase().indexOf(wanted, 1);
  return commands
    .filter((one) => wanted === '' || rank(one) >= 0)
    .sort((a, b) => Math.sign(rank(a) - 1) - Math.sign(rank(b) - 1) || a.value.localeCompare(b.value));
}

function useCommandOptions(directory: string | null): Option[] {
  const { t } = useTranslation('composer');
  const commands = useCommands(directory);
  const goals = useEnabled();
  return useMemo(() => {
    const ours = goals ? [...OWN, CRAFT] as const : OWN;
    const own = ours.map((name) => ({ value: `/${name}`, detail: t(`own.${name}`), path: null }));
    const names = new Set<string>(ours);
    const theirs = commands
      .filter(({ name }) => !names.has(name))
      .map(({ name, description }: Command) => ({ value: `/${name}`, detail: description ?? null, path: null }));
    return [...own, ...theirs];
  }, [commands, goals, t]);
}

export function useCompletion(text: string, caret: number | null, directory: string | null): Completion {
  const [dismissed, setDismissed] = useState<string | null>(null);
  const [pointed, setPointed] = useState<{ of: string; at: number }>({ of: '', at: 0 });
  const token = caret === null ? null : tokenAt(text, caret);
  // Escape closes it for this token; another one opens it again.
  const place = token === null ? null : `${token.kind} ${token.start}`;
  const open = token !== null && place !== dismissed ? token : null;
  const files = useFiles(directory, open?.kind === 'file' ? open.query : null);
  const commands = useCommandOptions(directory);
  const shown = useMemo(() => {
    if (open === null) return CLOSED;
    if (open.kind === 'command') return { ...CLOSED, token: open, options: matching(commands, open.query) };
    const options = files.paths.map((path): Option => ({ value: `@${path}`, detail: null, path }));
    return { token: open, options, loading: files.query !== open.query, failed: files.failed };
    // The token is made anew with each drawing: what it says counts.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [open?.kind, open?.query, open?.start, open?.end, commands, files]);
  const of = `${place ?? ''} ${token?.query ?? ''}`;
  const active = Math.min(pointed.of === of ? pointed.at : 0, Math.max(0, shown.options.length - 1));
  return {
    ...shown,
    active,
    move: (by) => {
      const count = shown.options.length;
      if (count > 0) setPointed({ of, at: (active + by + count) % count });
    },
    point: (at) => { setPointed({ of, at }); },
    dismiss: () => { setDismissed(place); },
  };
}
