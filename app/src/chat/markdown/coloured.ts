/** Shorter code is coloured whole each time it grows. */
const WHOLE_MAX = 2_048;

/** Steps in which code is coloured while its length doubles: the work stays in proportion to the code. */
const STEPS = 8;

/** How much of code that still grows is coloured: whole lines, in steps that grow with it. */
export function colouredLength(code: string): number {
  if (code.length < WHOLE_MAX) return code.length;
  const step = 2 ** Math.floor(Math.log2(code.length)) / STEPS;
  const end = Math.floor(code.length / step) * step;
  return code.lastIndexOf('\n', end) + 1;
}
