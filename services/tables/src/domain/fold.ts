/**
 * The form in which texts are compared when case does not count. A capital sigma at the end of a word
 * becomes ς and elsewhere σ, so both are made one: else a part of a text would fold differently than
 * the same letters inside of it. Not normalised: é as one character is not e with an accent after it.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}
