/** What the app needs of OpenCode, and how a person gets it. */

/** The oldest version that keeps goals (plugin/opencode, `VERSION_MIN`). */
export const LEAST_VERSION = '1.15.13';

export const INSTALL_NPM = 'npm install -g opencode-ai';
export const INSTALL_SCRIPT = 'curl -fsSL https://opencode.ai/install | bash';
export const UPGRADE = 'opencode upgrade';
export const SERVE = 'opencode serve --port 4096';
export const OFFICIAL_PAGE = 'https://opencode.ai/docs/';
