/** A provider's text as Postgres takes it: without NUL and halves of surrogate pairs. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\u{FFFD}").toWellFormed();
}
