import type { ReactNode } from 'react';

import { useKit } from './kit.js';

/** What went wrong, told at once, until it is dismissed. */
export function Failure(props: { text: string | null; onDismiss: () => void }): ReactNode {
  const { words } = useKit();
  return (
    <div className="goal-failure" role="alert" hidden={props.text === null}>
      {props.text !== null && (
        <>
          <span>{props.text}</span>
          <button type="button" className="goal-quiet" onClick={props.onDismiss}>
            {words.say('strip.dismiss')}
          </button>
        </>
      )}
    </div>
  );
}
