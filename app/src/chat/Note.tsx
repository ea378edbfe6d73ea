import { CircleAlert, Square, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

import { classes } from '../ui/classes';

const LOOKS = {
  quiet: { icon: Square, box: 'text-text-2', sign: 'text-text-3' },
  waiting: { icon: TriangleAlert, box: 'bg-tint-waiting px-3 py-2', sign: 'text-waiting' },
  bad: { icon: CircleAlert, box: 'bg-tint-bad px-3 py-2', sign: 'text-bad' },
} as const;

export interface NoteProps {
  tone: keyof typeof LOOKS;
  title?: string;
  children: ReactNode;
  beside?: ReactNode;
}

/** A word about how something went. */
export function Note({ tone, title, children, beside }: NoteProps): ReactNode {
  const { icon: Icon, box, sign } = LOOKS[tone];
  return (
    <div className={classes('flex items-start gap-2 rounded-control text-ui', box)}>
      <Icon size={14} aria-hidden className={classes('mt-[3px] shrink-0', sign)} />
      <div className="max-h-60 min-w-0 flex-1 overflow-y-auto">
        {title !== undefined && <p className="font-medium">{title}</p>}
        <div className="break-words whitespace-pre-wrap">{children}</div>
      </div>
      {beside}
    </div>
  );
}
