import { Brain, FileText } from 'lucide-react';
import { memo, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { usePreference } from '../preferences';
import { isBusy, type Part } from '../server/state';
import { useParts, useServer } from '../server/store';
import { Actions } from './Actions';
import { Files } from './Files';
import { Fold } from './Fold';
import { duration } from './format';
import { Markdown } from './markdown/Markdown';
import { Note } from './Note';
import { textOf } from './prompts';
import { endingOf, type AssistantMessage, type Ending } from './rows';
import { Tool } from './tools/Tool';

export interface AssistantRowProps {
  message: AssistantMessage;
  last: boolean;
  next: string | null;
}

/** One step of the agent: what it thought, did and said, and how it ended. */
export const AssistantRow = memo(function AssistantRow(props: AssistantRowProps): ReactNode {
  const { message, last, next } = props;
  const { t } = useTranslation('chat');
  const parts = useParts(message.sessionID, message.id);
  const busy = useServer((state) => isBusy(state, message.sessionID));
  const text = useMemo(() => textOf(parts), [parts]);
  if (message.summary === true) return <Summary message={message} text={text} />;
  const tools = parts.some(({ type }) => type === 'tool');
  const done = message.time.completed !== undefined;
  return (
    <article aria-label={t('message.agent', { name: message.agent })} className="group/row relative py-1">
      <div className="flex flex-col gap-1">
        {parts.map((part) => (
          <PartView key={part.id} part={part} />
        ))}
        <EndingNote ending={endingOf(message, { last, busy, tools })} />
      </div>
      {done && text !== '' && <Actions message={message} text={text} next={next} />}
    </article>
  );
});

const PartView = memo(function PartView({ part }: { part: Part }): ReactNode {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' || part.ignored === true ? null : <div className="my-1"><Markdown text={part.text} /></div>;
    case 'reasoning':
      return <Reasoning part={part} />;
    case 'tool':
      return <Tool part={part} />;
    case 'file':
      return <Files files={[part]} />;
    // Marks of the server's own; what of them matters is told by the turn's foot.
    case 'step-start':
    case 'step-finish':
    case 'snapshot':
    case 'patch':
    case 'agent':
    case 'retry':
    case 'compaction':
    case 'subtask':
      return null;
  }
});

function Reasoning({ part }: { part: Extract<Part, { type: 'reasoning' }> }): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const expand = usePreference('expandReasoning');
  if (part.text.trim() === '') return null;
  const { start, end } = part.time;
  const head =
    end === undefined
      ? t('reasoning.now')
      : t('reasoning.done', { time: duration(end - start, i18n.language) });
  return (
    <Fold
      id={part.id}
      usually={expand}
      head={
        <>
          <Brain size={14} aria-hidden className="shrink-0 text-text-3" />
          <span className="min-w-0 truncate">{head}</span>
        </>
      }
    >
      {() => <div className="text-text-2"><Markdown text={part.text} /></div>}
    </Fold>
  );
}

/** What is left of the history that was condensed. */
function Summary({ message, text }: { message: AssistantMessage; text: string }): ReactNode {
  const { t } = useTranslation('chat');
  const { error, time } = message;
  const busy = useServer((state) => isBusy(state, message.sessionID));
  const ending = endingOf(message, { last: false, busy, tools: false });
  if (error !== undefined) return <EndingNote ending={ending} />;
  return (
    <Fold
      id={`${message.id}:summary`}
      empty={text === ''}
      head={
        <>
          <FileText size={14} aria-hidden className="shrink-0 text-text-3" />
          <span>{t(time.completed === undefined && busy ? 'condensed.now' : 'condensed.summary')}</span>
        </>
      }
    >
      {() => <div className="text-text-2"><Markdown text={text} /></div>}
    </Fold>
  );
}

function EndingNote({ ending }: { ending: Ending }): ReactNode {
  const { t } = useTranslation('chat');
  switch (ending.kind) {
    case 'fine':
      return null;
    case 'stopped':
      return <Note tone="quiet">{t('ending.stopped')}</Note>;
    case 'interrupted':
      return <Note tone="waiting">{t('ending.interrupted')}</Note>;
    case 'cutOff':
      return <Note tone="waiting">{t('ending.cutOff')}</Note>;
    case 'failed':
      return <Note tone="bad" title={t('ending.failed')}>{ending.text}</Note>;
  }
}
