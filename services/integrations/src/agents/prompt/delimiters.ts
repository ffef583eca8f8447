import { randomBytes } from "node:crypto";

/** Makes the code in the delimiters of one question: 128 random bits in hexadecimal digits. */
export type MakeCode = () => string;

/** A text that stands between delimiters. */
export interface Block {
  readonly kind: "input" | "message" | "output-schema";
  /** Of an input's member; absent elsewhere, and where the input as a whole is meant. */
  readonly name?: string;
  /** How to read the text; absent: as text. */
  readonly type?: "text" | "json";
  readonly text: string;
}

export const randomCode: MakeCode = () => randomBytes(16).toString("hex");

/** A code that is nowhere in these blocks, in any case. One that is random never is, unless it was told. */
export function chooseCode(blocks: readonly Block[], makeCode: MakeCode): string {
  for (;;) {
    const code = makeCode();
    const holdsCode = new RegExp(code, "i");
    if (!blocks.some(({ name = "", text }) => holdsCode.test(name) || holdsCode.test(text))) {
      return code;
    }
  }
}

/** The block between its delimiters, each on a line of its own; the text as it is. */
export function delimit({ kind, name, type, text }: Block, code: string): string {
  const named = name === undefined ? "" : ` name=${quote(name)}`;
  const typed = type === undefined ? "" : ` type="${type}"`;
  return `<${kind}-${code}${named}${typed}>\n${wellFormed(text)}\n</${kind}-${code}>`;
}

/** A JSON string that holds no markup and no line break, so that a name stays a name. */
export function quote(name: string): string {
  return JSON.stringify(wellFormed(name)).replaceAll(/[<>&\p{C}\p{Zl}\p{Zp}]/gu, escapeUnits);
}

function escapeUnits(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Neither can come out of a caller's JSON (D2); providers would refuse the question. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}
