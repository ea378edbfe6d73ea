/** With which agent and model a message is sent: chosen here, else as the session last, else as preferred. */
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Agent, ModelChoice, Models } from '../host/contract';
import { configuredModel, findModel, leadingAgents } from '../models';
import { usePreference } from '../preferences';
import type { Message } from '../server/state';
import { useServer } from '../server/store';

export interface Choice {
  agent: string | null;
  model: ModelChoice | null;
}

/** Key of a draft → what a person chose there. */
export const chosen = createStore<Record<string, Partial<Choice>>>(() => ({}));

export function choose(key: string, patch: Partial<Choice>): void {
  chosen.setState((all) => ({ [key]: { ...all[key], ...patch } }));
}

/** The choice goes along when a draft becomes a session. */
export function moveChoice(from: string, to: string): void {
  const moved = chosen.getState()[from];
  if (moved !== undefined) choose(to, moved);
}

type UserMessage = Extract<Message, { role: 'user' }>;

function isUser(message: Message): message is UserMessage {
  return message.role === 'user';
}

/** What a message from this place is sent with. */
export function useChoice(key: string, sessionId: string | null, models: Models | null): Choice {
  const here = useStore(chosen, (all) => all[key]);
  const last = useServer((state) =>
    sessionId === null ? undefined : state.transcripts[sessionId]?.messages.findLast(isUser),
  );
  const agent = usePreference('agent');
  const model = usePreference('model');
  // The same until one of these is another: what shows it is not drawn with every key.
  return useMemo(
    () => resolve({ here, last, preferred: { agent, model }, models }),
    [here, last, agent, model, models],
  );
}

export function resolve({ here = {}, last, preferred, models }: {
  here?: Partial<Choice> | undefined;
  last?: Pick<UserMessage, 'agent' | 'model'> | undefined;
  preferred: Choice;
  models: Models | null;
}): Choice {
  const agent = firstKnown([here.agent, last?.agent, preferred.agent], models);
  const own = models?.agents.find(({ name }) => name === agent)?.model;
  const ofAgent = own == null ? null : { ...own, variant: null };
  const candidates = [
    here.model,
    // An agent that was chosen here brings its model; one that was there before does not.
    here.agent == null ? null : ofAgent,
    ofMessage(last),
    ofAgent,
    preferred.model,
  ];
  const model = candidates.find((one) => one != null && isKnown(models, one)) ?? configuredModel(models);
  return { agent, model: model === null ? null : withVariant(models, model) };
}

function firstKnown(names: (string | null | undefined)[], models: Models | null): string | null {
  const known = (name: string): boolean =>
    models === null || models.agents.some((agent) => agent.name === name);
  const found = names.find((name) => name != null && known(name));
  return found ?? leadingAgents(models)[0]?.name ?? null;
}

function ofMessage(message: Pick<UserMessage, 'model'> | undefined): ModelChoice | null {
  // Servers before variants leave them out; a message of an import may have no model.
  const model = message?.model as Partial<UserMessage['model']> | undefined;
  if (model?.providerID === undefined || model.modelID === undefined) return null;
  return { providerId: model.providerID, modelId: model.modelID, variant: model.variant ?? null };
}

function isKnown(models: Models | null, { providerId, modelId }: ModelChoice): boolean {
  return models === null || findModel(models, providerId, modelId) !== null;
}

/** Without a variant that the model does not have. */
function withVariant(models: Models | null, model: ModelChoice): ModelChoice {
  const found = findModel(models, model.providerId, model.modelId);
  if (found === null || model.variant === null || found.variants.includes(model.variant)) return model;
  return { ...model, variant: null };
}

/** The agents that may be chosen; the one in use is always among them. */
export function agentsFor(models: Models | null, agent: string | null): Agent[] {
  const leading = leadingAgents(models);
  const used = models?.agents.find(({ name }) => name === agent);
  return used === undefined || leading.includes(used) ? leading : [used, ...leading];
}
