import { useState, type SubmitEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { replyPermission, type PermissionReply } from '../../server/actions';
import type { PermissionRequest } from '../../server/state';
import { useServer } from '../../server/store';
import { Button } from '../../ui/Button';
import { ofPatch } from '../tools/diff';
import { DiffView } from '../tools/DiffView';
import { Output } from '../tools/Output';
import { shortPath, textIn } from '../tools/values';
import { Card } from './Card';
import { useAnswer } from './useAnswer';

/** Kinds of requests that have words of their own. */
const KINDS = ['bash', 'edit', 'read', 'webfetch', 'websearch', 'task', 'external_directory', 'doom_loop'] as const;

export interface PermissionCardProps {
  request: PermissionRequest;
  /** The session in which the card is shown. */
  of: string;
}

/** The agent asks whether it may; what is answered goes to it at once. */
export function PermissionCard({ request, of }: PermissionCardProps): ReactNode {
  const { t } = useTranslation('chat');
  const [denying, setDenying] = useState(false);
  const [sending, answer] = useAnswer(request, 'permission.replied');
  const reply = (how: PermissionReply, message?: string): void => {
    void answer(() => replyPermission(request, how, message));
  };
  const kind = KINDS.find((known) => known === request.permission);
  const title =
    kind === undefined ? t('permission.other', { name: request.permission }) : t(`permission.${kind}`);
  return (
    <Card title={title} sessionId={request.sessionID} of={of}>
      <Subject request={request} />
      {denying ? (
        <DenyForm sending={sending} send={(message) => { reply('reject', message); }} back={() => { setDenying(false); }} />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <Button kind="primary" disabled={sending} onClick={() => { reply('once'); }}>
            {t('permission.once')}
          </Button>
          {request.always.length > 0 && (
            <Button disabled={sending} onClick={() => { reply('always'); }}>{t('permission.always')}</Button>
          )}
          <Button disabled={sending} onClick={() => { reply('reject'); }}>{t('permission.deny')}</Button>
          <Button kind="quiet" disabled={sending} onClick={() => { setDenying(true); }}>
            {t('permission.denyWith')}
          </Button>
        </div>
      )}
      {request.always.length > 0 && !denying && (
        <p className="text-label break-words text-text-2">
          {t('permission.alwaysMeans')}{' '}
          {request.always.map((pattern, at) => (
            <span key={pattern}>
              {at > 0 && ', '}
              <code className="font-mono text-text">{pattern}</code>
            </span>
          ))}
        </p>
      )}
    </Card>
  );
}

/** What it is about: the command, the change or the patterns. */
function Subject({ request }: { request: PermissionRequest }): ReactNode {
  const { metadata, patterns, id } = request;
  const directory = useServer((state) => state.sessions[request.sessionID]?.directory ?? '');
  const command = textIn(metadata, 'command');
  if (command !== '') return <Output id={`${id}:command`} text={`$ ${command}`} />;
  const path = textIn(metadata, 'filepath') || textIn(metadata, 'filePath');
  const [file] = ofPatch(textIn(metadata, 'diff'), path);
  if (file !== undefined) {
    return (
      <div className="flex flex-col gap-1">
        <p className="font-mono text-code break-all">{shortPath(file.path, directory)}</p>
        <DiffView id={`${id}:diff`} file={file} />
      </div>
    );
  }
  const text = textIn(metadata, 'url') || patterns.map((pattern) => shortPath(pattern, directory)).join('\n');
  return text === '' ? null : <Output id={`${id}:patterns`} text={text} />;
}

interface DenyFormProps {
  sending: boolean;
  send: (message: string) => void;
  back: () => void;
}

/** A refusal with words goes to the agent, which goes on. */
function DenyForm({ sending, send, back }: DenyFormProps): ReactNode {
  const { t } = useTranslation(['chat', 'common']);
  const [message, setMessage] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (message.trim() !== '') send(message.trim());
  };
  return (
    <form
      onSubmit={submit}
      onKeyDown={({ key }) => { if (key === 'Escape') back(); }}
      className="flex flex-wrap items-center gap-2"
    >
      <input
        autoFocus
        value={message}
        onChange={({ target }) => { setMessage(target.value); }}
        aria-label={t('permission.reason')}
        placeholder={t('permission.reason')}
        maxLength={4_000}
        className="h-8 min-w-40 flex-1 rounded-control border border-control bg-surface px-2 text-ui"
      />
      <Button type="submit" kind="primary" disabled={sending || message.trim() === ''}>
        {t('permission.deny')}
      </Button>
      <Button kind="quiet" onClick={back}>{t('common:cancel')}</Button>
    </form>
  );
}
