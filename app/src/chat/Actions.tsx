import { CornerDownRight, Ellipsis, GitFork, ListChecks, Undo2 } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { openOrigin } from '../navigation';
import { titleOf } from '../server/plans';
import { isBusy, type Message } from '../server/state';
import { useServer } from '../server/store';
import { Tip } from '../ui/Tip';
import { useAttempt } from '../ui/toasts';
import { CopyButton } from '../ui/CopyButton';
import { forkFrom, revertTo } from './messageActions';

export interface ActionsProps {
  message: Message;
  text: string;
  next: string | null;
}

/** What can be done with a message. Its row is a `group/row` and `relative`. */
export function Actions({ message, text, next }: ActionsProps): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <div
      role="group"
      aria-label={t('message.actions')}
      className={
        'absolute -top-3 right-2 z-10 flex rounded-control border border-border bg-surface p-px opacity-0 ' +
        'transition-opacity group-hover/row:opacity-100 focus-within:opacity-100 ' +
        'has-aria-expanded:opacity-100 [@media(hover:none)]:opacity-100'
      }
    >
      {text !== '' && <CopyButton text={text} label={t('message.copy')} />}
      <Menu message={message} text={text} next={next} />
    </div>
  );
}

function Menu({ message, text, next }: ActionsProps): ReactNode {
  const { t } = useTranslation('chat');
  const attempt = useAttempt();
  const busy = useServer((state) => isBusy(state, message.sessionID));
  return (
    <DropdownMenu.Root>
      <Tip text={t('message.more')}>
        <DropdownMenu.Trigger
          aria-label={t('message.more')}
          className="inline-flex size-7 items-center justify-center rounded-control text-text-2 hover:bg-raised hover:text-text"
        >
          <Ellipsis size={14} aria-hidden />
        </DropdownMenu.Trigger>
      </Tip>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-card border border-border bg-surface p-1 shadow-floating"
        >
          {message.role === 'user' && (
            <Item
              icon={Undo2}
              text={t('message.revert')}
              disabled={busy}
              run={() => { void attempt(() => revertTo(message)); }}
            />
          )}
          <Item
            icon={GitFork}
            text={t('message.fork')}
            disabled={false}
            run={() => { void attempt(() => forkFrom(message, next)); }}
          />
          {message.role === 'assistant' && <Origins message={message} text={text} />}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** The agent of OpenCode that plans and changes nothing. */
const PLANS = 'plan';

/** What can begin from an answer. */
function Origins({ message, text }: Pick<ActionsProps, 'message' | 'text'>): ReactNode {
  const { t } = useTranslation('chat');
  const { sessionID } = message;
  const directory = useServer((state) => state.sessions[sessionID]?.directory);
  if (directory === undefined || text === '') return null;
  const from = { sessionId: sessionID, directory };
  return (
    <>
      {message.agent === PLANS && (
        <Item
          icon={ListChecks}
          text={t('message.implement')}
          disabled={false}
          run={() => {
            const said = { title: titleOf(text, null), path: null, content: text };
            openOrigin({ kind: 'plan', ...from, said });
          }}
        />
      )}
      <Item
        icon={CornerDownRight}
        text={t('message.begin')}
        disabled={false}
        run={() => { openOrigin({ kind: 'answer', ...from, text }); }}
      />
    </>
  );
}

interface ItemProps {
  icon: ComponentType<{ size: number }>;
  text: string;
  disabled: boolean;
  run: () => void;
}

function Item({ icon: Icon, text, disabled, run }: ItemProps): ReactNode {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={run}
      className="flex h-8 items-center gap-2 rounded-control px-2 text-ui outline-none data-disabled:opacity-50 data-highlighted:bg-raised"
    >
      <Icon size={14} />
      {text}
    </DropdownMenu.Item>
  );
}
