import { Circle, CircleCheck, CircleDot, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { Todo } from '../server/state';
import { useServer } from '../server/store';
import { classes } from '../ui/classes';
import { progressOf } from './figures';
import { useFormats } from './format';
import { Rest } from './Rest';
import { Section } from './Section';

const KINDS = {
  pending: { Sign: Circle, tone: 'text-text-3', text: '' },
  in_progress: { Sign: CircleDot, tone: 'text-accent', text: 'font-medium' },
  completed: { Sign: CircleCheck, tone: 'text-good', text: 'text-text-2' },
  cancelled: { Sign: CircleSlash, tone: 'text-text-3', text: 'text-text-2 line-through' },
} as const;

const NAMES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

/** The agent's own list of what is to be done. */
export function Todos({ sessionId }: { sessionId: string }): ReactNode {
  const { t } = useTranslation('panel');
  const { count } = useFormats();
  const todos = useServer((state) => state.todos[sessionId]);
  if (todos === undefined || todos.length === 0) return null;
  const { done, all } = progressOf(todos);
  const rows = todos.map((todo, at) => ({ todo, at }));
  return (
    <Section name="todos" title={t('todos.title')} summary={`${count(done)}/${count(all)}`}>
      <Rest all={rows} first={12} row={({ todo, at }) => <Line key={at} todo={todo} />} />
    </Section>
  );
}

function Line({ todo }: { todo: Todo }): ReactNode {
  const { t } = useTranslation('panel');
  const status = NAMES.find((name) => name === todo.status) ?? 'pending';
  const { Sign, tone, text } = KINDS[status];
  return (
    <li className="flex items-start gap-2 py-0.5">
      <Sign size={14} aria-hidden className={classes('mt-[3px] shrink-0', tone)} />
      <span className="sr-only">{t(`todos.${status}`)}</span>
      <span className={classes('min-w-0 flex-1 break-words', text)}>{todo.content}</span>
    </li>
  );
}
