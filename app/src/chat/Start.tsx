import { Bug, Compass, GitPullRequest, ListChecks, Target, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useEnabled } from 'tauri-plugin-goal-api/react';

import { focusComposer } from '../composer/focus';
import { changeDraft, draftKey } from '../drafts';
import { openOrigin } from '../navigation';
import { CRAFT } from '../origins/craft';
import { usePreference } from '../preferences';
import { plansIn } from '../server/plans';
import { useServer } from '../server/store';
import { useRead } from '../ui/useRead';

const HINTS = [
  { key: 'explain', icon: Compass },
  { key: 'fix', icon: Bug },
  { key: 'review', icon: GitPullRequest },
] as const;

/** Before the first message: a calm place, and where one might begin. */
export function Start({ directory }: { directory: string | null }): ReactNode {
  const { t } = useTranslation('chat');
  const write = (text: string): void => {
    changeDraft(draftKey(directory), { text });
    // Its text is another one now: the caret goes behind it.
    requestAnimationFrame(focusComposer);
  };
  const goals = useEnabled();
  const planned = usePlanned(directory);
  return (
    <section className="flex min-h-0 flex-1 flex-col overflow-y-auto px-4 frame:px-6">
      <div className="mx-auto my-auto w-full max-w-[560px] py-8">
        <h1 className="text-title font-semibold">{t('start.title')}</h1>
        <ul className="mt-6 flex flex-col gap-1">
          {HINTS.map(({ key, icon }) => (
            <Starter key={key} icon={icon} text={t(`start.${key}`)} run={() => { write(t(`start.${key}`)); }} />
          ))}
          {planned !== null && (
            <Starter
              icon={ListChecks}
              text={t('start.plan')}
              run={() => { openOrigin({ kind: 'plan', sessionId: null, directory: planned, said: null }); }}
            />
          )}
          {goals && <Starter icon={Target} text={t('start.craft')} run={() => { write(`/${CRAFT} `); }} />}
        </ul>
        <p className="mt-6 flex gap-3 border-t border-border pt-4 text-ui text-text-2">
          <Target size={16} aria-hidden className="mt-0.5 shrink-0 text-accent" />
          {t('start.goal')}
        </p>
      </div>
    </section>
  );
}

interface StarterProps {
  icon: LucideIcon;
  text: string;
  run: () => void;
}

function Starter({ icon: Icon, text, run }: StarterProps): ReactNode {
  return (
    <li>
      <button
        type="button"
        onClick={run}
        className="-mx-3 flex w-[calc(100%+24px)] items-center gap-3 rounded-control px-3 py-2 text-left text-chat text-text-2 transition-colors hover:bg-raised hover:text-text"
      >
        <Icon size={16} aria-hidden className="shrink-0 text-text-3" />
        {text}
      </button>
    </li>
  );
}

/** The folder of the new session, if plans wait there to be implemented. */
function usePlanned(chosen: string | null): string | null {
  const last = usePreference('lastDirectory');
  const live = useServer((state) => state.connection.kind === 'live');
  const directory = chosen ?? last;
  // Where they cannot be read, none is offered.
  const { value } = useRead(live ? directory : null, () => plansIn(directory ?? ''));
  return (value?.length ?? 0) > 0 ? directory : null;
}
