import { ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';

import { classes } from '../ui/classes';
import { useFold } from './folds';

export interface FoldProps {
  /** Keeps whether it is unfolded. */
  id: string;
  usually?: boolean;
  head: ReactNode;
  /** Beside the head, outside its button. */
  beside?: ReactNode;
  children: () => ReactNode;
  /** There is nothing to unfold. */
  empty?: boolean;
}

/** One line that unfolds. What is folded is not made. */
export function Fold({ id, usually = false, head, beside, children, empty = false }: FoldProps): ReactNode {
  const [open, setOpen] = useFold(id, usually);
  const body = useId();
  const shown = open && !empty;
  return (
    <div>
      <div className="flex min-w-0 items-center gap-1">
        <button
          type="button"
          aria-expanded={shown}
          {...(shown ? { 'aria-controls': body } : {})}
          disabled={empty}
          onClick={() => { setOpen(!open); }}
          className={classes(
            'group/fold -mx-2 flex min-h-7 min-w-0 flex-1 items-center gap-2 rounded-control px-2 py-1 text-left',
            'text-ui text-text-2 transition-colors enabled:hover:bg-raised enabled:hover:text-text',
          )}
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={classes(
              'shrink-0 text-text-3 transition-transform',
              shown && 'rotate-90',
              empty && 'invisible',
            )}
          />
          {head}
        </button>
        {beside}
      </div>
      {shown && (
        <div id={body} className="mt-1 mb-2 ml-1.5 border-l border-border pl-3.5">
          {children()}
        </div>
      )}
    </div>
  );
}
