import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** The first rows of a long list; a press shows all. */
export function Rest<T>({
  all,
  first,
  row,
}: {
  all: readonly T[];
  first: number;
  row: (one: T) => ReactNode;
}): ReactNode {
  const { t } = useTranslation('panel');
  const [whole, setWhole] = useState(false);
  // One more costs no more room than the button would.
  const shown = whole || all.length <= first + 1 ? all : all.slice(0, first);
  const hidden = all.length - shown.length;
  return (
    <>
      <ul className="flex flex-col">{shown.map(row)}</ul>
      {hidden > 0 && (
        <button
          type="button"
          className="mt-1 rounded-control font-medium text-accent hover:underline"
          onClick={() => {
            setWhole(true);
          }}
        >
          {t('showRest', { count: hidden })}
        </button>
      )}
    </>
  );
}
