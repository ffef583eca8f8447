/** Addresses that one field of an e-mail may list. */
export const ADDRESSES_MAX = 50;

/**
 * Splits a list of e-mail addresses at its commas. Commas within a quoted name or angle brackets do not count
 * (RFC 5322, section 3.4). Empty entries are left out, as section 4.4 says. Entries are not validated. Null
 * when a quotation mark or bracket is not closed, since the end of the entry is unknown then.
 *
 * @param options.templates treats `{{…}}` as one piece, whatever it contains
 */
export function splitAddresses(
  text: string,
  options: { templates?: boolean } = {},
): string[] | null {
  const entries: string[] = [];
  let start = 0;
  let inQuote = false;
  let inAngle = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (options.templates === true && text.startsWith("{{", at)) at = endOfTemplate(text, at);
    else if (inQuote && char === "\\") at += 1;
    else if (char === '"') inQuote = !inQuote;
    else if (inQuote) continue;
    else if (char === "<" || char === ">") inAngle = char === "<";
    else if (char === "," && !inAngle) {
      entries.push(text.slice(start, at));
      start = at + 1;
    }
  }
  if (inQuote || inAngle) return null;
  entries.push(text.slice(start));
  return entries.map(trimBlanks).filter((entry) => entry !== "");
}

/** Whether a text holds line breaks or other control characters, which could begin another header. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/**
 * The position of the last character of the template that begins here; of the text when the template is not
 * closed.
 */
function endOfTemplate(text: string, at: number): number {
  const close = text.indexOf("}}", at);
  return close === -1 ? text.length - 1 : close + 1;
}

/** Spaces only: a line break is no blank here, because another header may begin after it. */
function trimBlanks(text: string): string {
  return text.replace(/^ +| +$/g, "");
}
