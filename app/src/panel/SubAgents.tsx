import { CircleAlert, CircleCheck, Hand, LoaderCircle, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { openSession } from '../navigation';
import type { Session } from '../server/state';
import { useServer } from '../server/store';
import { classes } from '../ui/classes';
import { agentState, type AgentState } from './figures';
import { useFormats } from './format';
import { Rest } from './Rest';
import { Section } from './Section';

const SIGNS: Readonly<Record<AgentState, { Sign: typeof Hand; tone: string }>> = {
  waiting: { Sign: Hand, tone: 'text-waiting' },
  retrying: { Sign: RotateCw, tone: 'text-waiting' },
  working: { Sign: LoaderCircle, tone: 'text-accent' },
  failed: { Sign: CircleAlert, tone: 'text-bad' },
  done: { Sign: CircleCheck, tone: 'text-text-3' },
};

const RUNNING: readonly AgentState[] = ['waiting', 'retrying', 'working'];

/** What a session gave to others; a press steps in. */
export function SubAgents({ below }: { below: readonly Session[] }): ReactNode {
  const { t } = useTranslation('panel');
  const { count } = useFormats();
  const working = useServer(
    (state) => below.filter(({ id }) => RUNNING.includes(agentState(state, id))).length,
  );
  if (below.length === 0) return null;
  const newest = below.toSorted((a, b) => b.time.created - a.time.created);
  return (
    <Section
      name="subAgents"
      title={t('subAgents.title')}
      summary={
        working > 0
          ? t('subAgents.running', { n: count(working), all: count(below.length) })
          : count(below.length)
      }
    >
      <Rest all={newest} first={8} row={(session) => <SubAgent key={session.id} session={session} />} />
    </Section>
  );
}

function SubAgent({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation('panel');
  const state = useServer((all) => agentState(all, session.id));
  const { Sign, tone } = SIGNS[state];
  return (
    <li>
      <button
        type="button"
        className="-mx-2 flex w-[calc(100%+16px)] items-start gap-2 rounded-control px-2 py-1 text-left hover:bg-raised"
        onClick={() => {
          openSession(session.id);
        }}
      >
        <Sign
          size={14}
          aria-hidden
          className={classes('mt-[3px] shrink-0', tone, state === 'working' && 'animate-spin')}
        />
        <span className="min-w-0 flex-1">
          <span className="block truncate">{session.title}</span>
          <span className="block truncate text-label text-text-2">
            {session.agent !== undefined && `${session.agent} · `}
            {t(`subAgents.${state}`)}
          </span>
        </span>
      </button>
    </li>
  );
}
