import { Bug, Compass, GitPullRequest, Target } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { changeDraft, draftKey } from '../drafts';

const HINTS = [
  { key: 'explain', icon: Compass },
  { key: 'fix', icon: Bug },
  { key: 'review', icon: GitPullRequest },
] as const;

/** Before the first message: a calm place, and where one might begin. */
export function Start({ directory }: { directory: string | null }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <section className="flex min-h-0 flex-1 flex-col overflow-y-auto px-4 frame:px-6">
      <div className="mx-auto my-auto w-full max-w-[560px] py-8">
        <h1 className="text-title font-semibold">{t('start.title')}</h1>
        <ul className="mt-6 flex flex-col gap-1">
          {HINTS.map(({ key, icon: Icon }) => (
            <li key={key}>
              <button
                type="button"
                onClick={() => { changeDraft(draftKey(directory), { text: t(`start.${key}`) }); }}
                className="-mx-3 flex w-[calc(100%+24px)] items-center gap-3 rounded-control px-3 py-2 text-left text-chat text-text-2 transition-colors hover:bg-raised hover:text-text"
              >
                <Icon size={16} aria-hidden className="shrink-0 text-text-3" />
                {t(`start.${key}`)}
              </button>
            </li>
          ))}
        </ul>
        <p className="mt-6 flex gap-3 border-t border-border pt-4 text-ui text-text-2">
          <Target size={16} aria-hidden className="mt-0.5 shrink-0 text-accent" />
          {t('start.goal')}
        </p>
      </div>
    </section>
  );
}
