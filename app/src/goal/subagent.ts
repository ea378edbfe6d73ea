import { server } from '../server/store';

/** The name of a sub-agent: its session bears it. */
export function subagentName(sessionId: string): string | undefined {
  return server.getState().sessions[sessionId]?.agent;
}
