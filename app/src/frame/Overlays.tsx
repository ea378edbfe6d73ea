import type { ReactNode } from 'react';

export function Overlays(): ReactNode {
  return null;
}
