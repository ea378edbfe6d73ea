import { Bot, Info, Target } from 'lucide-react';
import { memo, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useParts } from '../server/store';
import { Actions } from './Actions';
import { Files } from './Files';
import { Fold } from './Fold';
import { useFold } from './folds';
import { timeOf } from './format';
import { promptOf, type Prompt, type SubtaskPart, type TextPart } from './prompts';
import type { UserMessage } from './rows';
import { Output } from './tools/Output';

/** What was sent to the agent: by a person, by the goal or by the app. */
export const UserRow = memo(function UserRow({ message }: { message: UserMessage }): ReactNode {
  const parts = useParts(message.sessionID, message.id);
  const prompt = useMemo(() => promptOf(parts), [parts]);
  switch (prompt.kind) {
    case 'compaction':
      return <Condensed />;
    case 'continuation':
      return <Continued id={message.id} prompt={prompt} />;
    case 'added':
      return <Added id={message.id} parts={prompt.added} afterCompaction={prompt.afterCompaction} />;
    case 'words':
      return <Words message={message} prompt={prompt} />;
  }
});

function Words({
  message,
  prompt,
}: {
  message: UserMessage;
  prompt: Extract<Prompt, { kind: 'words' }>;
}): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const { text, files, added, subtasks } = prompt;
  return (
    <article
      aria-label={t('message.you', { time: timeOf(message.time.created, i18n.language) })}
      className="group/row relative mt-6 mb-3 flex flex-col gap-2 rounded-card border border-border bg-raised px-4 py-3"
    >
      {text !== '' && <LongText id={message.id} text={text} />}
      {subtasks.map((subtask) => (
        <Subtask key={subtask.id} subtask={subtask} />
      ))}
      <Files files={files} />
      {added.length > 0 && <Added id={message.id} parts={added} afterCompaction={false} />}
      <Actions message={message} text={text} next={null} />
    </article>
  );
}

const LONG_LINES = 16;
const LONG_CHARACTERS = 1_600;

/** A person's words as they wrote them; long ones are cut until they are asked for. */
function LongText({ id, text }: { id: string; text: string }): ReactNode {
  const { t } = useTranslation('chat');
  const [all, setAll] = useFold(`${id}:words`, false);
  const long = text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES;
  const shown =
    long && !all ? `${text.split('\n').slice(0, LONG_LINES).join('\n').slice(0, LONG_CHARACTERS)}…` : text;
  return (
    <>
      <p className="text-chat break-words whitespace-pre-wrap">{shown}</p>
      {long && (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => { setAll(!all); }}
          className="self-start text-label font-medium text-text-2 hover:text-text"
        >
          {t(all ? 'showLess' : 'showAll')}
        </button>
      )}
    </>
  );
}

function Subtask({ subtask }: { subtask: SubtaskPart }): ReactNode {
  const { t } = useTranslation('chat');
  const { command, description, agent } = subtask;
  return (
    <p className="flex items-center gap-2 text-ui text-text-2">
      <Bot size={14} aria-hidden className="shrink-0" />
      {command !== undefined && <span className="font-mono text-code text-text">/{command}</span>}
      <span className="min-w-0 truncate">{description}</span>
      <span className="text-label text-text-3">{t('task.agent', { name: agent })}</span>
    </p>
  );
}

function Added({
  id,
  parts,
  afterCompaction,
}: {
  id: string;
  parts: readonly TextPart[];
  afterCompaction: boolean;
}): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <Fold
      id={`${id}:added`}
      head={
        <>
          <Info size={14} aria-hidden className="shrink-0 text-text-3" />
          <span className="text-label">{t(afterCompaction ? 'added.afterCompaction' : 'added.name')}</span>
        </>
      }
    >
      {() => (
        <div className="flex flex-col gap-2">
          {parts.map((part) => (
            <Output key={part.id} id={part.id} text={part.text.trim()} />
          ))}
        </div>
      )}
    </Fold>
  );
}

function Continued({
  id,
  prompt,
}: {
  id: string;
  prompt: Extract<Prompt, { kind: 'continuation' }>;
}): ReactNode {
  const { t } = useTranslation('chat');
  const { occasion, turn, turnsMax } = prompt.continuation;
  return (
    <div className="mt-4 mb-1">
      <Fold
        id={`${id}:continued`}
        head={
          <>
            <Target size={14} aria-hidden className="shrink-0 text-accent" />
            <span className="min-w-0 truncate">
              {t('continued.name')}
              {occasion !== null && ` · ${t(`continued.${occasion}`)}`}
            </span>
            <span className="ml-auto shrink-0 text-label text-text-3 tabular-nums">
              {t('continued.count', { turn, max: turnsMax })}
            </span>
          </>
        }
      >
        {() => <Output id={`${id}:prompt`} text={prompt.text} />}
      </Fold>
    </div>
  );
}

function Condensed(): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <div role="separator" aria-label={t('condensed.name')} className="mt-6 mb-2 flex items-center gap-3">
      <span className="h-px flex-1 bg-border" />
      <span className="text-label text-text-3">{t('condensed.name')}</span>
      <span className="h-px flex-1 bg-border" />
    </div>
  );
}
