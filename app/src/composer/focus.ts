/** The focus of the composer's text, for whoever else in the page gives it. */

/** The text's id: there is one composer. */
export const TEXT_ID = 'composer-text';

/** Puts the focus into the composer's text, behind what stands there. */
export function focusComposer(): void {
  const text = document.getElementById(TEXT_ID);
  if (!(text instanceof HTMLTextAreaElement)) return;
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}
