import { ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { openSession } from '../../navigation';
import { pending } from '../../server/state';
import { useServer } from '../../server/store';
import { Button } from '../../ui/Button';
import { Markdown } from '../markdown/Markdown';
import { Output } from './Output';
import { metadataOf, outputOf, textIn, type ToolPart } from './values';

/** The session of the sub-agent that a call started. */
function childOf(part: ToolPart): string | null {
  const id = textIn(metadataOf(part), 'sessionId');
  return id === '' ? null : id;
}

type ChildState = 'waiting' | 'working' | 'retrying' | 'failed' | 'idle';

function useChildState(child: string): ChildState {
  return useServer((state): ChildState => {
    const { permissions, questions } = pending(state, child);
    if (permissions.length + questions.length > 0) return 'waiting';
    const status = state.status[child];
    if (status?.type === 'retry') return 'retrying';
    if (status?.type === 'busy') return 'working';
    return state.errors[child] === undefined ? 'idle' : 'failed';
  });
}

/** Steps into the sub-agent's session. */
export function OpenTask({ part }: { part: ToolPart }): ReactNode {
  const child = childOf(part);
  return child === null ? null : <Open child={child} />;
}

function Open({ child }: { child: string }): ReactNode {
  const { t } = useTranslation('chat');
  const state = useChildState(child);
  return (
    <>
      {state !== 'idle' && (
        <span className={state === 'waiting' ? 'text-label text-waiting' : 'text-label text-text-2'}>
          {t(`task.${state}`)}
        </span>
      )}
      <Button kind="quiet" className="h-7 px-2" onClick={() => { openSession(child); }}>
        {t('task.open')}
        <ArrowUpRight size={14} aria-hidden />
      </Button>
    </>
  );
}

const RESULT = /<task_result>\n?([\s\S]*?)\n?<\/task_result>/;

/** What a sub-agent was asked, and its answer. */
export function TaskBody({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTranslation('chat');
  const { input, status } = part.state;
  const output = outputOf(part);
  const agent = textIn(input, 'subagent_type');
  return (
    <div className="flex flex-col gap-2">
      {agent !== '' && <p className="text-label text-text-3">{t('task.agent', { name: agent })}</p>}
      <Output id={`${part.id}:in`} text={textIn(input, 'prompt')} />
      {status === 'completed' && <Markdown text={RESULT.exec(output)?.[1] ?? output} />}
      {status === 'error' && <Output id={`${part.id}:out`} text={output} tone="bad" />}
    </div>
  );
}
