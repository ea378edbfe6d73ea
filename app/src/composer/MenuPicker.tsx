import { Check, ChevronDown } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

import { MENU, MENU_ITEM, TRIGGER } from './menu';

export interface Item {
  value: string;
  label: string;
  detail: string | null;
}

/** One of a few. */
export function MenuPicker({ label, value, items, onPick }: {
  label: string;
  value: string;
  items: readonly Item[];
  onPick: (value: string) => void;
}): ReactNode {
  const shown = items.find((one) => one.value === value)?.label ?? value;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className={TRIGGER} aria-label={`${label}: ${shown}`}>
        <span className="truncate">{shown}</span>
        <ChevronDown size={12} aria-hidden className="shrink-0" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content side="top" align="start" sideOffset={6} collisionPadding={8} className={MENU}>
          <DropdownMenu.Label className="px-2 py-1 text-label text-text-3">{label}</DropdownMenu.Label>
          <DropdownMenu.RadioGroup value={value} onValueChange={onPick}>
            {items.map((one) => (
              <DropdownMenu.RadioItem key={one.value} value={one.value} className={MENU_ITEM}>
                <span className="min-w-0 flex-1">
                  <span className="block">{one.label}</span>
                  {one.detail !== null && <span className="line-clamp-2 text-label text-text-2">{one.detail}</span>}
                </span>
                <DropdownMenu.ItemIndicator>
                  <Check size={14} aria-hidden />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
