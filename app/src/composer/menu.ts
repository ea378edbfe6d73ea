/** How the composer's menus look. */

export const MENU =
  'z-50 max-h-[min(400px,var(--radix-dropdown-menu-content-available-height))] max-w-[min(420px,calc(100vw-16px))] ' +
  'min-w-56 overflow-y-auto rounded-card border border-border bg-surface p-1 shadow-floating';

export const MENU_ITEM =
  'flex items-center gap-2 rounded-control px-2 py-1.5 text-ui outline-none data-highlighted:bg-raised';

/** The button that opens a picker in the foot. */
export const TRIGGER =
  'inline-flex h-7 min-w-0 items-center gap-1 rounded-control px-2 text-ui text-text-2 ' +
  'hover:bg-raised hover:text-text data-[state=open]:bg-raised data-[state=open]:text-text';
