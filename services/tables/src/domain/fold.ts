/**
 * The form of a text for comparisons without regard to case. A capital sigma becomes ς at the end of a word and σ
 * elsewhere, so both become one letter. Otherwise a part of a text could fold differently than the same letters
 * within the text. Texts are not normalised: é as one character differs from e with an accent after it.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}
