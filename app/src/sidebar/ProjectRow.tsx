import { ChevronRight, Plus } from 'lucide-react';
import { memo, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { openDraft } from '../navigation';
import { IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import type { Group } from './groups';

export interface ProjectRowProps {
  lineKey: string;
  group: Group;
  open: boolean;
  index: number;
  position: number;
  of: number;
  active: boolean;
  onActive: (key: string) => void;
  onToggle: (directory: string) => void;
}

/** A folder with its sessions below it. */
export const ProjectRow = memo(function ProjectRow(props: ProjectRowProps): ReactNode {
  const { lineKey, group, open, index, position, of, active, onActive, onToggle } = props;
  const { t } = useTranslation('sidebar');
  const { directory, name } = group;
  const key = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const turns =
      event.key === 'Enter' ||
      event.key === ' ' ||
      (event.key === 'ArrowRight' && !open) ||
      (event.key === 'ArrowLeft' && open);
    if (!turns) return;
    event.preventDefault();
    // The tree would move as well.
    event.stopPropagation();
    onToggle(directory);
  };
  return (
    <div
      role="treeitem"
      aria-level={1}
      aria-posinset={position}
      aria-setsize={of}
      aria-expanded={open}
      aria-selected={false}
      aria-labelledby={`folder-${index}`}
      tabIndex={active ? 0 : -1}
      data-index={index}
      title={directory}
      className="group mx-2 mt-1 flex h-8 items-center gap-1 rounded-control pr-1 pl-2 text-text-2 hover:bg-raised focus-visible:-outline-offset-2"
      onFocus={() => { onActive(lineKey); }}
      onClick={() => { onToggle(directory); }}
      onKeyDown={key}
    >
      <span id={`folder-${index}`} className="min-w-0 truncate text-label font-semibold">{name}</span>
      <ChevronRight
        size={12}
        aria-hidden
        className={classes('shrink-0 text-text-3 transition-transform', open && 'rotate-90')}
      />
      <span className="flex-1" />
      <span className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <IconButton
          label={t('newIn', { folder: name })}
          tabIndex={active ? 0 : -1}
          className="size-6"
          onClick={(event) => {
            event.stopPropagation();
            openDraft(directory);
          }}
        >
          <Plus size={14} aria-hidden />
        </IconButton>
      </span>
    </div>
  );
});
