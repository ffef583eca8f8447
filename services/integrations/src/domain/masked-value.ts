import { SECRET_MASK } from "@workflow/definition";

const HINT_CHARACTERS = 4;

/** Four bullets, followed by the last four characters of a value with at least five (D45). */
export function maskedValue(value: string): string {
  const characters = Array.from(value);
  if (characters.length <= HINT_CHARACTERS) return SECRET_MASK;
  return SECRET_MASK + characters.slice(-HINT_CHARACTERS).join("");
}
