import type { McpStatus } from '@opencode-ai/sdk/v2/client';
import { CircleAlert, CircleCheck, CircleSlash, KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { client, data } from '../server/client';
import { useServer } from '../server/store';
import { classes } from '../ui/classes';
import { useRead } from '../ui/useRead';
import { useFormats } from './format';
import { Rest } from './Rest';
import { Failed, Loading, Section } from './Section';

const SIGNS: Readonly<Record<McpStatus['status'], { Sign: typeof KeyRound; tone: string }>> = {
  connected: { Sign: CircleCheck, tone: 'text-good' },
  disabled: { Sign: CircleSlash, tone: 'text-text-3' },
  failed: { Sign: CircleAlert, tone: 'text-bad' },
  needs_auth: { Sign: KeyRound, tone: 'text-waiting' },
  needs_client_registration: { Sign: KeyRound, tone: 'text-waiting' },
};

interface McpProps {
  directory: string;
  /** Read again when this changes. */
  stamp: string;
}

/** The MCP servers of a folder. */
export function McpServers({ directory, stamp }: McpProps): ReactNode {
  const { t } = useTranslation('panel');
  const { count } = useFormats();
  const live = useServer((state) => state.connection.kind === 'live');
  const read = useRead(
    live ? directory : null,
    () => data(client.mcp.status({ directory })),
    stamp,
  );
  const servers = Object.entries(read.value ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (servers.length === 0 && !read.loading && read.failure === null) return null;
  const connected = servers.filter(([, { status }]) => status === 'connected').length;
  return (
    <Section
      name="mcp"
      title={t('mcp.title')}
      summary={servers.length === 0 ? undefined : `${count(connected)}/${count(servers.length)}`}
    >
      {read.loading && <Loading />}
      {read.failure !== null && <Failed thrown={read.failure.thrown} again={read.again} />}
      {servers.length > 0 && (
        <Rest
          all={servers}
          first={12}
          row={([name, status]) => <McpServer key={name} name={name} status={status} />}
        />
      )}
    </Section>
  );
}

function McpServer({ name, status }: { name: string; status: McpStatus }): ReactNode {
  const { t } = useTranslation('panel');
  const { Sign, tone } = SIGNS[status.status];
  return (
    <li className="flex items-start gap-2 py-0.5">
      <Sign size={14} aria-hidden className={classes('mt-[3px] shrink-0', tone)} />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <span className="shrink-0 text-label text-text-2">{t(`mcp.${status.status}`)}</span>
        </span>
        {'error' in status && (
          <span className="block text-label break-words text-bad">{status.error}</span>
        )}
      </span>
    </li>
  );
}
