import { useEffect } from 'react';

import { useServer } from './store';
import { readBranch } from './sync';

/** The branch of a folder, read when it is shown; where there is no version control there is none. */
export function useBranch(directory: string | null): string | undefined {
  const live = useServer((state) => state.connection.kind === 'live');
  useEffect(() => {
    if (live && directory !== null) void readBranch(directory);
  }, [live, directory]);
  return useServer((state) => (directory === null ? undefined : state.branches[directory]));
}
