import { cleanup, configure } from '@testing-library/react';
import { clearMocks } from '@tauri-apps/api/mocks';
import { afterEach } from 'vitest';

// How long is waited for what appears: a busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 15_000 });

afterEach(async () => {
  cleanup();
  // Listeners are taken away a turn after the last reader has left.
  await new Promise((resolve) => setTimeout(resolve));
  if (typeof window !== 'undefined') clearMocks();
});
