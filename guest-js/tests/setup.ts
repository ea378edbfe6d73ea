import { cleanup } from '@testing-library/react';
import { clearMocks } from '@tauri-apps/api/mocks';
import { afterEach } from 'vitest';

afterEach(async () => {
  cleanup();
  // Listeners are taken away a turn after the last reader has left.
  await new Promise((resolve) => setTimeout(resolve));
  if (typeof window !== 'undefined') clearMocks();
});
