import { useId, useState, type ClipboardEvent, type KeyboardEvent, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';

import { changeDraft } from '../drafts';
import type { Draft } from '../host/contract';
import { usePreference } from '../preferences';
import { CompletionList, optionId } from './CompletionList';
import { TEXT_ID } from './focus';
import { isComposing, isSend } from './keys';
import { mention, mentionsIn } from './mentions';
import { completed } from './token';
import { useCompletion, type Completion, type Option } from './useCompletion';
import type { Where } from './where';

export interface EditorProps {
  where: Where;
  draft: Draft;
  placeholder: string;
  /** The text is on its way. */
  readOnly: boolean;
  /** What describes the text: why it cannot be sent, or how. */
  hintId: string;
  onSubmit: () => void;
  onFiles: (files: File[]) => void;
}

/** The text that grows with what stands in it, and what completes it. */
export function Editor(props: EditorProps): ReactNode {
  const { where, draft, placeholder, readOnly, hintId, onSubmit, onFiles } = props;
  const { t } = useTranslation('composer');
  const listId = useId();
  const sendWithEnter = usePreference('sendWithEnter');
  const [caret, setCaret] = useState<number | null>(null);
  const completion = useCompletion(draft.text, caret, where.directory);

  const pick = (option: Option): void => {
    const { token } = completion;
    if (token === null) return;
    const next = completed(draft.text, token, option.value);
    // The caret can be set only where the text stands already.
    flushSync(() => {
      changeDraft(where.key, { text: next.text, attachments: withMention(where, draft, option) });
      setCaret(next.caret);
    });
    const text = document.getElementById(TEXT_ID);
    if (text instanceof HTMLTextAreaElement) text.setSelectionRange(next.caret, next.caret);
  };

  const keyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (isComposing(event.nativeEvent)) return;
    if (complete(event, completion, pick)) {
      event.preventDefault();
      // An Escape that was meant for the list means nothing to anybody else.
      event.stopPropagation();
    } else if (isSend(event, sendWithEnter)) {
      event.preventDefault();
      onSubmit();
    }
  };

  return (
    <>
      <CompletionList id={listId} completion={completion} onPick={pick} />
      <div className="max-h-[40dvh] overflow-y-auto px-3 pt-2.5 pb-1">
        <div className="relative grid text-chat">
          <Mirror draft={draft} />
          <textarea
            id={TEXT_ID}
            rows={1}
            value={draft.text}
            placeholder={placeholder}
            readOnly={readOnly}
            aria-label={t('text')}
            aria-describedby={hintId}
            aria-autocomplete="list"
            {...(completion.token === null ? {} : combobox(listId, completion))}
            className="absolute inset-0 resize-none overflow-hidden bg-transparent break-words outline-none placeholder:text-text-3"
            onChange={({ target }) => {
              setCaret(target.selectionStart);
              changeDraft(where.key, { text: target.value });
            }}
            onSelect={({ currentTarget }) => { setCaret(caretOf(currentTarget)); }}
            onBlur={() => { setCaret(null); }}
            onKeyDown={keyDown}
            onPaste={(event) => { pasted(event, onFiles); }}
          />
        </div>
      </div>
    </>
  );
}

/** Roles of the text while a list is open; else it is a text of many lines, which a combobox cannot be. */
function combobox(listId: string, { options, active }: Completion): Record<string, unknown> {
  return {
    role: 'combobox',
    'aria-expanded': true,
    'aria-haspopup': 'listbox',
    'aria-controls': listId,
    ...(options.length > 0 ? { 'aria-activedescendant': optionId(listId, active) } : {}),
  };
}

/** Keys of an open list; `true` where the key was one. */
function complete(
  event: KeyboardEvent<HTMLTextAreaElement>,
  completion: Completion,
  pick: (option: Option) => void,
): boolean {
  const { token, options, active, move, dismiss } = completion;
  if (token === null || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
  const option = options[active];
  const isWhole = option?.path === null && option.value === `/${token.query}`;
  if (event.key === 'Escape') dismiss();
  else if (option === undefined) return false;
  else if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else if (event.key === 'Tab' || (event.key === 'Enter' && !isWhole)) pick(option);
  else return false;
  return true;
}

function withMention({ directory }: Where, { attachments }: Draft, { path }: Option): Draft['attachments'] {
  if (path === null || directory === null) return attachments;
  const named = mention(directory, path);
  return attachments.some(({ url }) => url === named.url) ? attachments : [...attachments, named];
}

/** Where the caret is; `null` while something is selected. */
function caretOf({ selectionStart, selectionEnd }: HTMLTextAreaElement): number | null {
  return selectionStart === selectionEnd ? selectionStart : null;
}

function pasted(event: ClipboardEvent, onFiles: (files: File[]) => void): void {
  const files = [...event.clipboardData.files];
  // Tables and formatted texts bring a picture of themselves.
  if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  onFiles(files);
}

/** The same text below the text area: gives it its height, and the files it names their colour. */
function Mirror({ draft: { text, attachments } }: { draft: Draft }): ReactNode {
  const marks = mentionsIn(text, attachments);
  const ends = [0, ...marks.map(({ end }) => end)];
  return (
    <div aria-hidden className="min-h-12 break-words whitespace-pre-wrap text-transparent">
      {marks.map(({ start, end }, at) => (
        <span key={start}>
          {text.slice(ends[at], start)}
          <mark className="rounded-sm bg-tint-accent text-transparent">{text.slice(start, end)}</mark>
        </span>
      ))}
      {/* A last line that is empty counts, too. */}
      {`${text.slice(ends.at(-1))}\u200b`}
    </div>
  );
}
