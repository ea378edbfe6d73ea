import { useId, useState, type SubmitEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { rejectQuestion, replyQuestion } from '../../server/actions';
import type { QuestionRequest } from '../../server/state';
import { Button } from '../../ui/Button';
import { answersOf, isAnswered, NO_CHOICE, type Choice } from './choice';
import { Card } from './Card';
import { useAnswer } from './useAnswer';

type Question = QuestionRequest['questions'][number];

export interface QuestionCardProps {
  request: QuestionRequest;
  /** The session in which the card is shown. */
  of: string;
}

/** The agent asks something: one choice, several, or own words. */
export function QuestionCard({ request, of }: QuestionCardProps): ReactNode {
  const { t } = useTranslation('chat');
  const [choices, setChoices] = useState<Choice[]>(() => request.questions.map(() => NO_CHOICE));
  const [sending, answer] = useAnswer(request, 'question.rejected');
  const complete = choices.every(isAnswered);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (complete && !sending) void answer(() => replyQuestion(request, choices.map(answersOf)));
  };
  const [first] = request.questions;
  const title =
    request.questions.length === 1 && first !== undefined ? first.header : t('question.some', { count: request.questions.length });
  return (
    <Card title={title === '' ? t('question.one') : title} sessionId={request.sessionID} of={of}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {request.questions.map((question, at) => (
          <Choices
            key={at}
            question={question}
            choice={choices[at] ?? NO_CHOICE}
            change={(choice) => { setChoices((all) => all.with(at, choice)); }}
          />
        ))}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" disabled={sending || !complete}>{t('question.send')}</Button>
          <Button
            kind="quiet"
            disabled={sending}
            onClick={() => { void answer(() => rejectQuestion(request)); }}
          >
            {t('question.reject')}
          </Button>
        </div>
      </form>
    </Card>
  );
}

interface ChoicesProps {
  question: Question;
  choice: Choice;
  change: (choice: Choice) => void;
}

function Choices({ question, choice, change }: ChoicesProps): ReactNode {
  const name = useId();
  const several = question.multiple === true;
  const pick = (label: string, on: boolean): void => {
    if (!several) change({ ...choice, labels: [label], own: false });
    else change({ ...choice, labels: on ? [...choice.labels, label] : choice.labels.filter((one) => one !== label) });
  };
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-2 text-chat break-words whitespace-pre-wrap">{question.question}</legend>
      {question.options.map(({ label, description }) => (
        <label key={label} className="flex gap-2 rounded-control border border-border bg-surface px-3 py-2 has-checked:border-accent">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={name}
            checked={choice.labels.includes(label)}
            onChange={({ target }) => { pick(label, target.checked); }}
            className="mt-1 size-3.5 shrink-0 accent-accent"
          />
          <span className="min-w-0 break-words">
            <span className="font-medium">{label}</span>
            {description !== '' && <span className="block text-text-2">{description}</span>}
          </span>
        </label>
      ))}
      {question.custom !== false && <OwnWords name={name} several={several} choice={choice} change={change} />}
    </fieldset>
  );
}

interface OwnWordsProps {
  name: string;
  several: boolean;
  choice: Choice;
  change: (choice: Choice) => void;
}

function OwnWords({ name, several, choice, change }: OwnWordsProps): ReactNode {
  const { t } = useTranslation('chat');
  const set = (own: boolean, words: string): void => {
    change({ labels: own && !several ? [] : choice.labels, own, words });
  };
  return (
    <div className="flex items-center gap-2 rounded-control border border-border bg-surface px-3 py-1.5 has-checked:border-accent">
      <input
        type={several ? 'checkbox' : 'radio'}
        name={name}
        checked={choice.own}
        aria-label={t('question.own')}
        onChange={({ target }) => { set(target.checked, choice.words); }}
        className="size-3.5 shrink-0 accent-accent"
      />
      <input
        value={choice.words}
        onChange={({ target }) => { set(target.value !== '', target.value); }}
        aria-label={t('question.ownWords')}
        placeholder={t('question.ownWords')}
        maxLength={4_000}
        className="h-6 min-w-0 flex-1 bg-transparent text-ui -outline-offset-1"
      />
    </div>
  );
}
