// Builds the page with its simulated host and serves it on loopback under the app's own content policy.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.woff2': 'font/woff2',
};

/** The policy of tauri.conf.json, as one header. */
export function policy() {
  const { app } = JSON.parse(readFileSync(at('../../src-tauri/tauri.conf.json'), 'utf8'));
  return Object.entries(app.security.csp)
    .map(([directive, sources]) => `${directive} ${[sources].flat().join(' ')}`)
    .join('; ');
}

/** Builds the page into `outDir`, with the simulated host or as it is shipped. */
export async function make(outDir, mocked) {
  if (mocked) process.env.VITE_MOCK = '1';
  try {
    await build({ root: at('..'), logLevel: 'error', build: { outDir, emptyOutDir: true } });
  } finally {
    delete process.env.VITE_MOCK;
  }
}

export async function serve() {
  const folder = at('../dist-browser');
  await make(folder, true);
  const csp = policy();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // Browsers ask for a sign of the page; the app's window has its own.
    if (pathname === '/favicon.ico') return response.writeHead(204).end();
    const path = pathname === '/' ? '/index.html' : normalize(decodeURIComponent(pathname));
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, {
        'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
        'content-security-policy': csp,
      });
      return response.end(body);
    } catch {
      return response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
