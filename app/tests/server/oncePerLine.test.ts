import { expect, test, vi } from 'vitest';

import { oncePerLine } from '../../src/server/oncePerLine';
import { server } from '../../src/server/store';

const live = (): void => { server.setState({ connection: { kind: 'live' } }); };
const away = (): void => { server.setState({ connection: { kind: 'away', since: 1, nextTryAt: null } }); };

test('many who ask are served by one reading, until the line changes', async () => {
  live();
  const read = vi.fn((key: string) => Promise.resolve(`of ${key}`));
  const once = oncePerLine(read);
  expect(await Promise.all([once('/a'), once('/a'), once('/b')])).toEqual(['of /a', 'of /a', 'of /b']);
  // Another resync on the same line is none.
  live();
  await once('/a');
  expect(read.mock.calls).toEqual([['/a'], ['/b']]);
  away();
  live();
  await once('/a');
  expect(read.mock.calls).toEqual([['/a'], ['/b'], ['/a']]);
});

test('a reading that failed is tried again, and fails for all who asked', async () => {
  live();
  const read = vi.fn<(key: string) => Promise<string>>().mockRejectedValueOnce(new Error('no')).mockResolvedValue('yes');
  const once = oncePerLine(read);
  const both = await Promise.allSettled([once('/a'), once('/a')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await once('/a')).toBe('yes');
  expect(read).toHaveBeenCalledTimes(2);
});
