/** The server's slash commands, read once per folder. */
import type { Command } from '@opencode-ai/sdk/v2/client';
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { client, data } from '../server/client';
import { oncePerLine } from '../server/oncePerLine';
import { useServer } from '../server/store';

const known = createStore<Record<string, readonly Command[]>>(() => ({}));

/** Asks the server. */
const read = oncePerLine(async (directory): Promise<readonly Command[]> => {
  const commands = await data(client.command.list({ directory }));
  known.setState({ [directory]: commands });
  return commands;
});

/** The commands of a folder; asks the server where they are not known. */
export async function commandsOf(directory: string): Promise<readonly Command[]> {
  return known.getState()[directory] ?? (await read(directory));
}

const NONE: readonly Command[] = [];

/** The commands of a folder, as far as they are known. They are read anew when the line comes back. */
export function useCommands(directory: string | null): readonly Command[] {
  const live = useServer((state) => state.connection.kind === 'live');
  useEffect(() => {
    // Where this fails, sending asks again and says so.
    if (live && directory !== null) read(directory).catch(() => null);
  }, [directory, live]);
  return useStore(known, (all) => all[directory ?? ''] ?? NONE);
}
