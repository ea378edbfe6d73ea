/** The line below the composer: why a message cannot be sent, what to know before, or how it is sent. */
import { useTranslation } from 'react-i18next';

import { fitsHost } from '../drafts';
import type { Draft, Models } from '../host/contract';
import { findModel } from '../models';
import { usePreference } from '../preferences';
import type { Connection } from '../server/state';
import { useServer } from '../server/store';
import type { Choice } from './choice';
import { needs } from './files';
import { withCommand } from './keys';
import type { Where } from './where';

export interface Hint {
  text: string;
  tone: 'plain' | 'waiting';
  /** Nothing can be sent. */
  blocks: boolean;
}

export interface Situation {
  connection: Connection['kind'];
  where: Where;
  models: Models | null;
  choice: Choice;
  draft: Draft;
  busy: boolean;
}

export type Reason =
  | 'starting' | 'away' | 'noFolder' | 'noModel'
  | 'images' | 'pdf' | 'notKept'
  | 'queues';

const BLOCKING: readonly Reason[] = ['starting', 'away', 'noFolder', 'noModel'];

/** What is to be said, the gravest first; `null`: nothing but how to send. */
export function reasonOf({ connection, where, models, choice, draft, busy }: Situation): Reason | null {
  if (connection !== 'live') return connection;
  if (where.sessionId === null && where.directory === null) return 'noFolder';
  if (models?.providers.length === 0) return 'noModel';
  const { providerId = '', modelId = '' } = choice.model ?? {};
  const model = findModel(models, providerId, modelId);
  const wanted = needs(draft.attachments);
  if (model !== null && wanted.images && !model.images) return 'images';
  if (model !== null && wanted.pdf && !model.pdf) return 'pdf';
  if (!fitsHost(draft)) return 'notKept';
  return busy ? 'queues' : null;
}

export function useHint(situation: Omit<Situation, 'connection'>): Hint {
  const { t } = useTranslation('composer');
  const sendWithEnter = usePreference('sendWithEnter');
  const connection = useServer((state) => state.connection.kind);
  const reason = reasonOf({ ...situation, connection });
  if (reason === null) {
    const text = sendWithEnter ? t('hint.enter') : t('hint.command', { keys: withCommand('Enter') });
    return { text, tone: 'plain', blocks: false };
  }
  const { models, choice } = situation;
  const model = findModel(models, choice.model?.providerId ?? '', choice.model?.modelId ?? '');
  return {
    text: t(`hint.${reason}`, { model: model?.name ?? '' }),
    tone: reason === 'queues' ? 'plain' : 'waiting',
    blocks: BLOCKING.includes(reason),
  };
}
