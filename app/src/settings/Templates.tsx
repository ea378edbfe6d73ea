import type { NotificationTemplates } from 'tauri-plugin-goal-api';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { Row, TextField } from './rows';
import { useSaveGoalSettings } from './save';

const KINDS = ['completion', 'error', 'question', 'subtask'] as const;

/** What may stand in a text. */
const PLACEHOLDERS = [
  '{project_name}',
  '{worktree}',
  '{branch}',
  '{session_name}',
  '{agent_name}',
  '{model_name}',
  '{last_message}',
  '{session_id}',
] as const;

/** The user's own texts of notices; an empty one is the usual text. */
export function Templates({ templates }: { templates: NotificationTemplates }): ReactNode {
  const { t } = useTranslation('settings');
  const { refusal, set } = useSaveGoalSettings();
  return (
    <Row id="notificationTemplates" refusal={refusal}>
      <details className="mt-2">
        <summary className="w-fit rounded-control text-ui text-accent">{t('templatesShow')}</summary>
        <p className="mt-2 text-label text-text-2">{t('placeholders')}</p>
        <ul className="mt-1 flex flex-wrap gap-1">
          {PLACEHOLDERS.map((name) => (
            <li key={name} className="rounded-control bg-raised px-1.5 font-mono text-label">
              {name}
            </li>
          ))}
        </ul>
        {KINDS.map((kind) => (
          <fieldset key={kind} className="mt-3">
            <legend className="mb-1 text-label font-medium text-text-2">{t(`template.${kind}`)}</legend>
            <div className="flex flex-col gap-2">
              {(['title', 'message'] as const).map((part) => (
                <TextField
                  key={part}
                  value={templates[kind][part]}
                  label={t(`templatePart.${part}`)}
                  placeholder={t(`templatePart.${part}`)}
                  keep={(text) =>
                    void set({
                      notificationTemplates: {
                        ...templates,
                        [kind]: { ...templates[kind], [part]: text },
                      },
                    })
                  }
                />
              ))}
            </div>
          </fieldset>
        ))}
      </details>
    </Row>
  );
}
