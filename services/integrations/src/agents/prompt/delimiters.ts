import { randomBytes } from "node:crypto";

/** Makes the code in the delimiters of one question: 128 random bits in hexadecimal digits. */
export type MakeCode = () => string;

/** A text that stands between delimiters. */
export interface Block {
  readonly kind: "input" | "message" | "output-schema";
  /** The name of an input's member; absent for other blocks, and for the whole input. */
  readonly name?: string;
  /** The form of the text; `text` by default. */
  readonly type?: "text" | "json";
  readonly text: string;
}

export const randomCode: MakeCode = () => randomBytes(16).toString("hex");

/**
 * A code that occurs in none of these blocks, in any case. A random code never occurs unless a block's
 * author has seen it.
 */
export function chooseCode(blocks: readonly Block[], makeCode: MakeCode): string {
  for (;;) {
    const code = makeCode();
    const holdsCode = new RegExp(code, "i");
    if (!blocks.some(({ name = "", text }) => holdsCode.test(name) || holdsCode.test(text))) {
      return code;
    }
  }
}

/** The block between its delimiters, each on its own line; the text is unchanged. */
export function delimit({ kind, name, type, text }: Block, code: string): string {
  const named = name === undefined ? "" : ` name=${quote(name)}`;
  const typed = type === undefined ? "" : ` type="${type}"`;
  return `<${kind}-${code}${named}${typed}>\n${wellFormed(text)}\n</${kind}-${code}>`;
}

/** A name as a JSON string without markup and line breaks, so that it cannot act as anything but a name. */
export function quote(name: string): string {
  return JSON.stringify(wellFormed(name)).replaceAll(/[<>&\p{C}\p{Zl}\p{Zp}]/gu, escapeUnits);
}

function escapeUnits(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * Replaces characters for which providers would refuse the question. JSON of callers cannot contain
 * them (D2).
 */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}
