/**
 * Session goals for OpenCode in the page of a Tauri app.
 *
 * Every function takes one object, exactly what goes over the wire, and rejects with a
 * {@link GoalError}. Times are epoch milliseconds, budgets tokens, lengths UTF-16 units.
 *
 * @module
 */
export * from './arm.js';
export * from './commands.js';
export * from './errors.js';
export * from './events.js';
export * from './format.js';
export * from './presentation.js';
export * from './store.js';
export * from './types.js';
export * from './words.js';
