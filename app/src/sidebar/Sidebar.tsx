import type { ReactNode } from 'react';

export function Sidebar(): ReactNode {
  return <aside />;
}
