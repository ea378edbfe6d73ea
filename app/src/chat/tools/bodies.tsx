/** What a tool call unfolds to: one rendering for each tool that is known, text for all others. */
import { Check, Circle, CircleDot, CircleX } from 'lucide-react';
import { useMemo, type ComponentType, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { Part } from '../../server/state';
import { classes } from '../../ui/classes';
import { useConversation } from '../context';
import { Files } from '../Files';
import { Link } from '../markdown/Link';
import { diffsOf } from './diff';
import { DiffView } from './DiffView';
import { Output } from './Output';
import { TaskBody } from './Task';
import { metadataOf, outputOf, plainText, rowsIn, shortPath, textIn, type ToolPart } from './values';

type Body = ComponentType<{ part: ToolPart }>;

const BODIES: Readonly<Record<string, Body>> = {
  bash: Bash,
  read: Read,
  edit: Change,
  multiedit: Change,
  write: Change,
  apply_patch: Change,
  grep: Found,
  glob: Found,
  list: Found,
  webfetch: Fetched,
  task: TaskBody,
  todowrite: Todos,
  question: Questions,
};

export function ToolBody({ part }: { part: ToolPart }): ReactNode {
  const Body = BODIES[part.tool] ?? Unknown;
  const { state } = part;
  const attached: Part[] = state.status === 'completed' ? (state.attachments ?? []) : [];
  return (
    <div className="flex flex-col gap-2">
      <Body part={part} />
      <Files files={attached.filter((one) => one.type === 'file')} />
    </div>
  );
}

/** What a tool said, in red where it failed. */
function Said({ part, end = 'head' }: { part: ToolPart; end?: 'head' | 'tail' }): ReactNode {
  const text = plainText(outputOf(part));
  if (text === '') return null;
  const tone = part.state.status === 'error' ? 'bad' : 'plain';
  return <Output id={`${part.id}:out`} text={text} end={end} tone={tone} />;
}

function Bash({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTranslation('chat');
  const command = textIn(part.state.input, 'command');
  const done = part.state.status === 'completed' && outputOf(part) === '';
  return (
    <>
      <Output id={`${part.id}:in`} text={`$ ${command}`} />
      <Said part={part} end="tail" />
      {done && <p className="text-label text-text-3">{t('output.none')}</p>}
    </>
  );
}

const CONTENT = /<(?:content|file)>\n?([\s\S]*?)\n?<\/(?:content|file)>/;

function Read({ part }: { part: ToolPart }): ReactNode {
  const content = part.state.status === 'completed' ? CONTENT.exec(part.state.output)?.[1] : undefined;
  if (content === undefined) return <Said part={part} />;
  return <Output id={`${part.id}:out`} text={content} wrap={false} />;
}

function Change({ part }: { part: ToolPart }): ReactNode {
  const { directory } = useConversation();
  const files = useMemo(() => diffsOf(part), [part]);
  const patch = files.length === 0 ? textIn(part.state.input, 'patchText') : '';
  return (
    <>
      {files.map((file, at) => (
        <div key={at} className="flex flex-col gap-1">
          {files.length > 1 && (
            <p className="font-mono text-code text-text-2">{shortPath(file.path, directory)}</p>
          )}
          <DiffView id={`${part.id}:diff:${at}`} file={file} />
        </div>
      ))}
      {patch !== '' && <Output id={`${part.id}:in`} text={patch} wrap={false} />}
      {(part.state.status === 'error' || files.length === 0) && <Said part={part} />}
    </>
  );
}

function Found({ part }: { part: ToolPart }): ReactNode {
  return <Said part={part} />;
}

function Fetched({ part }: { part: ToolPart }): ReactNode {
  const url = textIn(part.state.input, 'url');
  return (
    <>
      <p className="md text-code break-all"><Link href={url}>{url}</Link></p>
      <Said part={part} />
    </>
  );
}

const TODO_ICONS: Readonly<Record<string, typeof Circle>> = {
  completed: Check,
  in_progress: CircleDot,
  cancelled: CircleX,
};

const TODO_STATES = ['completed', 'in_progress', 'cancelled', 'pending'] as const;

function Todos({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTranslation('chat');
  const todos = rowsIn(part.state.input, 'todos');
  return (
    <ul className="flex flex-col gap-0.5">
      {todos.map((todo, at) => {
        const state = TODO_STATES.find((known) => known === todo['status']) ?? 'pending';
        const Icon = TODO_ICONS[state] ?? Circle;
        const over = state === 'completed' || state === 'cancelled';
        return (
          <li key={at} className={classes('flex gap-2', over ? 'text-text-3' : 'text-text')}>
            <Icon
              size={14}
              role="img"
              aria-label={t(`todo.${state}`)}
              className={classes('mt-[3px] shrink-0', state === 'in_progress' && 'text-accent')}
            />
            <span className={classes('min-w-0 break-words', state === 'cancelled' && 'line-through')}>
              {textIn(todo, 'content')}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Questions({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTranslation('chat');
  const answers = metadataOf(part)['answers'];
  const given: unknown[] = Array.isArray(answers) ? answers : [];
  if (part.state.status === 'error') return <Said part={part} />;
  return (
    <dl className="flex flex-col gap-2">
      {rowsIn(part.state.input, 'questions').map((one, at) => {
        const answer = given[at];
        const words = Array.isArray(answer) ? answer.map(String).join(', ') : '';
        return (
          <div key={at}>
            <dt className="text-text-2">{textIn(one, 'question')}</dt>
            <dd className="text-text">{words === '' ? t('question.unanswered') : words}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A tool of an MCP server or of a plugin: what it was given and gave, as text. */
function Unknown({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTranslation('chat');
  const { input, status } = part.state;
  const given = Object.keys(input).length === 0 ? '' : JSON.stringify(input, null, 2);
  return (
    <>
      {given !== '' && (
        <>
          <p className="text-label text-text-3">{t('tool.input')}</p>
          <Output id={`${part.id}:in`} text={given} />
        </>
      )}
      {outputOf(part) !== '' && (
        <>
          <p className="text-label text-text-3">{t(status === 'error' ? 'tool.error' : 'tool.output')}</p>
          <Said part={part} />
        </>
      )}
    </>
  );
}
