/** Plans that the plan agent has written down: files in the project's own folder for them. */
import { client, data } from './client';
import type { Session } from './state';

/** Where OpenCode lets its plan agent write. */
export const PLANS = '.opencode/plans';

/** Older ones are not offered. */
const PLANS_MAX = 20;

/** A plan, from a file or from an answer. */
export interface Plan {
  title: string;
  /** From the project's folder; `null`: it was said and stands in no file. */
  path: string | null;
  content: string;
}

/** The paths of a folder's plans, the newest first: a file's name begins with the time of its session. */
export async function plansIn(directory: string): Promise<string[]> {
  let path = '.';
  // A folder that is not there is an error of the server like any other: whether it is, its parent tells.
  for (const name of PLANS.split('/')) {
    const nodes = await data(client.file.list({ directory, path }));
    if (!nodes.some((node) => node.type === 'directory' && node.name === name)) return [];
    path = path === '.' ? name : `${path}/${name}`;
  }
  const nodes = await data(client.file.list({ directory, path }));
  return nodes
    .filter(({ type, name }) => type === 'file' && name.endsWith('.md'))
    .map(({ name }) => `${PLANS}/${name}`)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .slice(0, PLANS_MAX);
}

/** Where a session's plan is written. */
export function planOf({ time, slug }: Session): string {
  return `${PLANS}/${time.created}-${slug}.md`;
}

/** A plan as it stands in its file now. */
export async function readPlan(directory: string, path: string): Promise<Plan> {
  const { content } = await data(client.file.read({ directory, path }));
  return { title: titleOf(content, path), path, content };
}

/** What a plan calls itself, else its file's name, else its first words. */
export function titleOf(content: string, path: string | null): string {
  const heading = /^#{1,6}[ \t]+(.+?)[ \t#]*$/m.exec(content)?.[1];
  if (heading !== undefined) return clipped(heading);
  return clipped(path === null ? (content.trim().split('\n')[0] ?? '') : nameOf(path));
}

/** A file's name without what only tells them apart. */
export function nameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
  return name.replace(/^\d{10,}-(?=.)/, '');
}

const TITLE_MAX = 80;

function clipped(text: string): string {
  const plain = text.replace(/[*_`]/g, '').trim();
  return plain.length > TITLE_MAX ? `${plain.slice(0, TITLE_MAX - 1)}…` : plain;
}
