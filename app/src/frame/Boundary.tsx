import { TriangleAlert } from 'lucide-react';
import { Component, type ErrorInfo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { flushDrafts } from '../drafts';
import { Button } from '../ui/Button';
import { toast } from '../ui/toasts';

/** The parts of the page that fail on their own. */
export type Area = 'page' | 'sidebar' | 'header' | 'chat' | 'composer' | 'panel' | 'overlay';

interface Props {
  area: Area;
  children: ReactNode;
}

interface State {
  failed: { error: unknown; stack: string } | null;
}

/** Keeps a fault in one part of the page from taking the others with it, and says what happened. */
export class Boundary extends Component<Props, State> {
  override state: State = { failed: null };

  static getDerivedStateFromError(error: unknown): State {
    return { failed: { error, stack: '' } };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    this.setState({ failed: { error, stack: componentStack ?? '' } });
  }

  override render(): ReactNode {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return <Broken area={this.props.area} details={detailsOf(this.props.area, failed)} />;
  }
}

function detailsOf(area: Area, { error, stack }: { error: unknown; stack: string }): string {
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [`OpenChamber, ${area}`, told, stack].join('\n');
}

async function reload(): Promise<void> {
  // What was typed is worth a moment; a draft that cannot be kept must not hold the page.
  await flushDrafts().catch(() => null);
  window.location.reload();
}

function Broken({ area, details }: { area: Area; details: string }): ReactNode {
  const { t } = useTranslation(['frame', 'common']);
  const copy = (): void => {
    navigator.clipboard.writeText(details).then(
      () => { toast({ tone: 'plain', text: t('common:copied') }); },
      () => { toast({ tone: 'bad', text: t('broken.notCopied') }); },
    );
  };
  return (
    <div role="alert" className="flex min-h-0 min-w-0 flex-1 flex-col items-start gap-3 overflow-auto p-4">
      <p className="flex items-start gap-2 text-ui font-medium">
        <TriangleAlert size={16} className="mt-0.5 shrink-0 text-bad" aria-hidden />
        {t(`broken.${area}`)}
      </p>
      <p className="text-ui text-text-2">{t('broken.safe')}</p>
      <pre className="max-h-24 max-w-full overflow-auto font-mono text-label whitespace-pre-wrap text-text-2">
        {details.split('\n')[1]}
      </pre>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => { void reload(); }}>{t('broken.reload')}</Button>
        <Button onClick={copy}>{t('broken.copy')}</Button>
      </div>
    </div>
  );
}
