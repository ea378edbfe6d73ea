import './chat.css';

import type { ReactNode } from 'react';

import type { Place } from '../navigation';
import { Session } from './Session';
import { Start } from './Start';

/** The conversation of the place where a person is. */
export function Chat({ place }: { place: Place }): ReactNode {
  return place.kind === 'draft' ? (
    <Start directory={place.directory} />
  ) : (
    <Session key={place.id} id={place.id} />
  );
}
