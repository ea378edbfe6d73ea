/** What may be chosen for a message: agents, models and their variants, read once per folder and line. */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Agent, Model, ModelChoice, Models } from './host/contract';
import * as host from './host/host';
import { oncePerLine } from './server/oncePerLine';
import { useServer } from './server/store';

/** Folder, or `''` for the server's own → its models; `null` while they could not be read. */
const known = createStore<Record<string, Models | null>>(() => ({}));

const read = oncePerLine(async (key) => {
  const models = await host.models(key === '' ? null : key);
  known.setState({ [key]: models });
});

/** The models of a folder; `null` until they are known. They are read again when the line comes back. */
export function useModels(directory: string | null): Models | null {
  const key = directory ?? '';
  const live = useServer((state) => state.connection.kind === 'live');
  useEffect(() => {
    if (!live) return;
    read(key).catch(() => {
      known.setState((all) => ({ [key]: all[key] ?? null }));
    });
  }, [key, live]);
  return useStore(known, (all) => all[key] ?? null);
}

/** A model by its ids. */
export function findModel(models: Models | null, providerId: string, modelId: string): Model | null {
  const provider = models?.providers.find(({ id }) => id === providerId);
  return provider?.models.find(({ id }) => id === modelId) ?? null;
}

/** Agents a person may choose: those that lead a session. */
export function leadingAgents(models: Models | null): Agent[] {
  return (models?.agents ?? []).filter(({ mode, hidden }) => mode !== 'subagent' && !hidden);
}

/**
 * The model that is used where nobody chose one: the configured one. `null` where none is configured, or it is not there:
 * then the server chooses, and no choice is sent in its place.
 */
export function configuredModel(models: Models | null): ModelChoice | null {
  const configured = models?.configured ?? null;
  if (configured === null) return null;
  const { providerId, modelId } = configured;
  return findModel(models, providerId, modelId) === null ? null : { providerId, modelId, variant: null };
}
