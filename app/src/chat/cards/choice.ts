/** What is chosen for one question. */
export interface Choice {
  labels: readonly string[];
  /** Own words are part of the answer. */
  own: boolean;
  words: string;
}

export const NO_CHOICE: Choice = { labels: [], own: false, words: '' };

/** The answer as the server takes it: labels, then own words. */
export function answersOf({ labels, own, words }: Choice): string[] {
  return own && words.trim() !== '' ? [...labels, words.trim()] : [...labels];
}

export function isAnswered(choice: Choice): boolean {
  return answersOf(choice).length > 0;
}
