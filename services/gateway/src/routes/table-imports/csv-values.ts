import {
  isJsonProblem,
  isLostNumber,
  listLostNumbers,
  LOST_NUMBER,
  scanJsonObject,
} from "@workflow/json";
import type { ColumnTypeName } from "../tables/table-fields.ts";

/** Reads the values of a column of a CSV file. */
export interface ValueReader {
  /**
   * The problem of a value that is not empty, worded to follow the column's name; null without one.
   */
  problemWith(text: string): string | null;
  /** The JSON of a value without a problem. */
  toJson(text: string): string;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A double preserves a decimal of this many digits. */
const EXACT_DIGITS = 15;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const EMAIL = /^[^\s@<>()",;:\\]{1,64}@[^\s@<>()",;:\\.]+(?:\.[^\s@<>()",;:\\.]+)+$/;
const WEB_ADDRESS = /^https?:\/\/[^\s/]\S*$/i;
const TEXT: ValueReader = { problemWith: () => null, toJson: (text) => JSON.stringify(text) };

/** The readers of columns with a declared type. */
export const READERS: Readonly<Record<ColumnTypeName, ValueReader>> = {
  text: TEXT,
  email: TEXT,
  url: TEXT,
  // Options are advisory, like everything about columns.
  select: TEXT,
  number: {
    problemWith: (text) => {
      if (!JSON_NUMBER.test(text)) return "must be a number such as 12 or -0.5";
      return isLostNumber(text) ? LOST_NUMBER : null;
    },
    toJson: (text) => text,
  },
  boolean: {
    problemWith: (text) => (isBoolean(text) ? null : "must be true or false"),
    toJson: (text) => text.toLowerCase(),
  },
  date: {
    problemWith: (text) => (isDay(text) ? null : "must be a day such as 2026-01-31"),
    toJson: (text) => JSON.stringify(text),
  },
  json: {
    problemWith: jsonProblem,
    toJson: (text) => text,
  },
};

/** The recognized types, in the order in which they are tried; everything else is text. */
const RECOGNISED: readonly [ColumnTypeName, (text: string) => boolean][] = [
  ["boolean", isBoolean],
  ["number", isPlainNumber],
  ["date", isDay],
  ["email", (text) => EMAIL.test(text)],
  ["url", (text) => WEB_ADDRESS.test(text) && URL.canParse(text)],
];

/** Recognizes the type of a column from its values. */
export class TypeGuess {
  #isEmpty = true;
  #possible = RECOGNISED;

  /** Considers a value that is not empty. */
  see(text: string): void {
    this.#isEmpty = false;
    if (this.#possible.length === 0) return;
    if (this.#possible.every(([, fits]) => fits(text))) return;
    this.#possible = this.#possible.filter(([, fits]) => fits(text));
  }

  /** The first type that fits all values; text when there is none, or no value. */
  get type(): ColumnTypeName {
    return this.#isEmpty ? "text" : (this.#possible[0]?.[0] ?? "text");
  }
}

/** Spreadsheets write booleans in capitals. */
function isBoolean(text: string): boolean {
  return text === "true" || text === "false" || text === "TRUE" || text === "FALSE";
}

/**
 * A text that is nothing but a number and keeps its value: without the leading zeros or plus sign
 * of codes, without an exponent as in `1e5`, and with no more digits than a double preserves.
 */
function isPlainNumber(text: string): boolean {
  if (!PLAIN_NUMBER.test(text)) return false;
  const value = Number(text);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  if (!text.includes(".")) return true;
  const shortest = text.replace(/\.?0+$/, "");
  const digits = shortest.replaceAll(/[-.]/g, "").replace(/^0+/, "").length;
  return digits <= EXACT_DIGITS || String(value) === shortest;
}

function isDay(text: string): boolean {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (year === undefined || year === "0000") return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function jsonProblem(text: string): string | null {
  if (isJsonProblem(scanJsonObject(`{"value":${text}}`))) return "must be JSON";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without its braces the text is not one value, for example `1,"more":2`.
    return "must be JSON";
  }
  const [lost] = listLostNumbers(text, value);
  if (lost === undefined) return null;
  return lost.length === 0 ? LOST_NUMBER : `at ${lost.join(".")} ${LOST_NUMBER}`;
}
