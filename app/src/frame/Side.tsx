import { useState, type ReactNode } from 'react';

import { setPreferences, usePreference } from '../preferences';
import { classes } from '../ui/classes';
import { useAttempt } from '../ui/toasts';
import { Resizer } from './Resizer';

export interface SideProps {
  width: 'sidebarWidth' | 'panelWidth';
  side: 'left' | 'right';
  label: string;
  min: number;
  max: number;
  usual: number;
  /** The name of the part, if it is a landmark on its own. */
  navigation?: string;
  children: ReactNode;
}

/** A part beside the conversation whose width a person chooses. */
export function Side(props: SideProps): ReactNode {
  const { width: preference, side, label, min, max, usual, navigation, children } = props;
  const attempt = useAttempt();
  const kept = usePreference(preference);
  const [moved, setMoved] = useState<number | null>(null);
  const width = moved ?? kept;
  const done = (chosen: number): void => {
    // The preference holds at once, so the width does not jump back in between.
    void attempt(() => setPreferences({ [preference]: chosen }));
    setMoved(null);
  };
  const Part = navigation === undefined ? 'div' : 'nav';
  return (
    <Part
      aria-label={navigation}
      style={{ width }}
      className={classes(
        'relative flex h-full shrink-0 flex-col border-border',
        side === 'left' ? 'border-r' : 'border-l',
      )}
    >
      {children}
      <Resizer {...{ label, width, min, max, usual, side }} onMove={setMoved} onDone={done} />
    </Part>
  );
}
