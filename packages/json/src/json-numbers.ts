/** The largest integer up to which every integer is a double of its own. */
const INTEGER_MAX = 2 ** 53;
/** The smallest double that JavaScript prints with an exponent. */
const EXPONENT_MIN = 1e21;
/** Beyond 1.8e308 a number has an exponent of three digits, or more than 200 digits of its own. */
const PERHAPS_INFINITE = /[eE]\+?\d{3}|\d{200}/;

/** The problem of a number that `isLostNumber` finds, worded to follow its path. */
export const LOST_NUMBER =
  `is a number that would not be kept as it is: integers go from -${INTEGER_MAX} to ${INTEGER_MAX}; ` +
  "larger ones can be strings";

/** The problem of a number that `listInfiniteNumbers` finds, worded to follow its path. */
export const INFINITE_NUMBER = "is too large for a number (at most about 1.8e308)";

/**
 * Whether a JSON number loses its value as a double (D5): infinite numbers, and integers beyond 2^53. A
 * larger number passes when it has an exponent and JavaScript would also print one. JavaScript prints
 * other large numbers as integers, which could not be sent back.
 */
export function isLostNumber(source: string): boolean {
  return isLost(Number(source), source);
}

/** The paths of a JSON text's numbers that `isLostNumber` finds; `value` is what the text parses to. */
export function listLostNumbers(text: string, value: unknown): string[][] {
  if (!hasLargeNumber(value)) return [];
  const marked: unknown = JSON.parse(text, (_key, item: unknown, context?: { source?: string }) =>
    typeof item === "number" && isLost(item, context?.source ?? String(item)) ? LOST : item,
  );
  return listPaths(marked, (item) => item === LOST);
}

/**
 * The paths of a JSON text's numbers that JavaScript reads as infinite, which JSON can't express;
 * `value` is what the text parses to.
 */
export function listInfiniteNumbers(text: string, value: unknown): string[][] {
  if (!PERHAPS_INFINITE.test(text)) return [];
  return listPaths(value, (item) => typeof item === "number" && !Number.isFinite(item));
}

/** Marks the place of a lost number. No JSON value is a symbol. */
const LOST = Symbol("lost number");

/** Only texts with a large number are parsed again, for the written digits. */
function hasLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) >= INTEGER_MAX;
  if (typeof value !== "object" || value === null) return false;
  const items: unknown[] = Object.values(value);
  return items.some(hasLargeNumber);
}

function isLost(value: number, source: string): boolean {
  const size = Math.abs(value);
  if (size < INTEGER_MAX) return false;
  // A neighbour of 2^53 may also be read as 2^53.
  if (size === INTEGER_MAX) return significantDigits(source) !== String(INTEGER_MAX);
  return size === Infinity || size < EXPONENT_MIN || !/[.e]/i.test(source);
}

function significantDigits(source: string): string {
  return source
    .replace(/e.*$/i, "")
    .replaceAll(/[-.]/g, "")
    .replaceAll(/^0+|0+$/g, "");
}

/** Recursion is safe: the nesting was checked before. */
function listPaths(root: unknown, isWanted: (item: unknown) => boolean): string[][] {
  const found: string[][] = [];
  const path: string[] = [];
  const visit = (value: unknown): void => {
    if (isWanted(value)) found.push([...path]);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        path.push(key);
        visit(item);
        path.pop();
      }
    }
  };
  visit(root);
  return found;
}
