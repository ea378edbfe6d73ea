import { Target } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useEnabled, useGoalView } from 'tauri-plugin-goal-api/react';

import { focusComposer } from '../composer/focus';
import { changeDraft, drafts, NO_DRAFT } from '../drafts';
import { setArmed, useUnsuitable } from '../goal/arming';
import { Button } from '../ui/Button';
import { toast } from '../ui/toasts';

/** Arms the text of a proposed goal: it stands in the composer, and sending it starts the goal. */
export function ArmProposal({ sessionId, text }: { sessionId: string; text: string }): ReactNode {
  const { t } = useTranslation('origins');
  const goal = useGoalView(sessionId);
  const enabled = useEnabled();
  const unsuitable = useUnsuitable(sessionId);
  // Where there is a goal already, no message becomes one.
  if (!enabled || unsuitable || Boolean(goal)) return null;
  const arm = (): void => {
    const before = drafts.getState()[sessionId] ?? NO_DRAFT;
    changeDraft(sessionId, { text: text.trim(), attachments: [] });
    setArmed(sessionId, true);
    requestAnimationFrame(focusComposer);
    if (before.text.trim() === '' && before.attachments.length === 0) return;
    toast({
      tone: 'plain',
      text: t('craft.replaced'),
      action: { label: t('craft.undo'), run: () => { changeDraft(sessionId, before); } },
    });
  };
  return (
    <Button kind="quiet" className="h-7 px-2 text-accent!" onClick={arm}>
      <Target size={14} aria-hidden />
      {t('craft.arm')}
    </Button>
  );
}
