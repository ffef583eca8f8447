/** A position in a text; line and column are counted from 1. */
export interface TextPlace {
  line: number;
  column: number;
}

const PUNCTUATION = "{}[],:";
/**
 * A scalar of JSON (RFC 8259). The pattern for strings is unrolled, so that a long one needs no deep
 * stack.
 */
const SCALAR =
  // oxlint-disable-next-line no-control-regex -- control characters are what a string may not hold
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What may come next; `firstKey` and `firstItem` also allow the container to be closed. */
type Expected = "value" | "firstItem" | "firstKey" | "key" | "colon" | "next" | "end";

/** Finds the first token that makes a text invalid JSON. That may be the end of the text. */
export function findJsonError(text: string): TextPlace {
  const containers: ("}" | "]")[] = [];
  let expected: Expected = "value";
  let index = 0;
  for (;;) {
    index = skipSpace(text, index);
    const end = endOfToken(text, index);
    const next: Expected | null =
      end === null ? null : step(expected, text.charAt(index), containers);
    if (end === null || next === null) return placeOf(text, index);
    expected = next;
    index = end;
  }
}

/** What may follow a token, by its first character; null when the token is not allowed there. */
function step(expected: Expected, first: string, containers: ("}" | "]")[]): Expected | null {
  switch (expected) {
    case "firstItem":
      return first === "]" ? close(containers) : startValue(first, containers);
    case "value":
      return startValue(first, containers);
    case "firstKey":
      if (first === "}") return close(containers);
      return first === '"' ? "colon" : null;
    case "key":
      return first === '"' ? "colon" : null;
    case "colon":
      return first === ":" ? "value" : null;
    case "next": {
      const closing = containers.at(-1);
      if (first === closing) return close(containers);
      if (first !== ",") return null;
      return closing === "}" ? "key" : "value";
    }
    case "end":
      return null;
    default:
      return expected satisfies never;
  }
}

function startValue(first: string, containers: ("}" | "]")[]): Expected | null {
  if (first === "{") {
    containers.push("}");
    return "firstKey";
  }
  if (first === "[") {
    containers.push("]");
    return "firstItem";
  }
  if ("}],:".includes(first)) return null;
  return afterValue(containers);
}

function close(containers: ("}" | "]")[]): Expected {
  containers.pop();
  return afterValue(containers);
}

function afterValue(containers: readonly ("}" | "]")[]): Expected {
  return containers.length === 0 ? "end" : "next";
}

function endOfToken(text: string, index: number): number | null {
  if (index < text.length && PUNCTUATION.includes(text.charAt(index))) return index + 1;
  SCALAR.lastIndex = index;
  return SCALAR.test(text) ? SCALAR.lastIndex : null;
}

function skipSpace(text: string, start: number): number {
  let index = start;
  while (index < text.length && " \t\n\r".includes(text.charAt(index))) index += 1;
  return index;
}

function placeOf(text: string, index: number): TextPlace {
  const before = text.slice(0, index);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: index - lineStart + 1 };
}
