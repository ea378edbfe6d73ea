/** Class names in one string; what is false or empty is left out. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter((name) => name !== false && name !== null && name !== undefined && name !== '').join(' ');
}
