import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

import { startI18n } from '../src/i18n';

await startI18n('en');

// How long is waited for what appears: a busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 15_000 });

afterEach(cleanup);
