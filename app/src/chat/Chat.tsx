import './chat.css';

import { lazy, Suspense, type ReactNode } from 'react';

import type { Place } from '../navigation';
import { Skeleton } from './Skeleton';
import { Start } from './Start';

/** What shows messages is read with the first session: a window without one holds none of it. */
const Session = lazy(async () => ({ default: (await import('./Session')).Session }));

/** The conversation of the place where a person is. */
export function Chat({ place }: { place: Place }): ReactNode {
  return place.kind === 'draft' ? (
    <Start directory={place.directory} />
  ) : (
    <Suspense fallback={<Skeleton />}>
      <Session key={place.id} id={place.id} />
    </Suspense>
  );
}
