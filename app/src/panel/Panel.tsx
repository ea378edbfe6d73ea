import type { ReactNode } from 'react';

import type { Place } from '../navigation';

export function Panel({ place }: { place: Place }): ReactNode {
  return <div>{place.kind}</div>;
}
