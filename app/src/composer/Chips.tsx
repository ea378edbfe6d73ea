import { useId, type ReactNode } from 'react';

import type { Item } from './MenuPicker';

/** One of a few, all in sight. */
export function Chips({ label, value, items, onPick }: {
  label: string;
  value: string;
  items: readonly Item[];
  onPick: (value: string) => void;
}): ReactNode {
  const name = useId();
  if (items.length === 0) return null;
  return (
    <fieldset>
      <legend className="mb-1 text-label text-text-2">{label}</legend>
      <div className="flex flex-wrap gap-2">
        {items.map((one) => (
          <label
            key={one.value}
            className="flex h-8 items-center rounded-full border border-control px-3 has-checked:border-accent has-checked:bg-tint-accent has-checked:font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              className="sr-only"
              name={name}
              checked={one.value === value}
              onChange={() => { onPick(one.value); }}
            />
            {one.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
