import type { ReactNode } from 'react';

import type { Place } from '../navigation';

export function Header({ place }: { place: Place }): ReactNode {
  return <div>{place.kind}</div>;
}
