import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

import { startI18n } from '../src/i18n';

await startI18n('en');

afterEach(cleanup);
