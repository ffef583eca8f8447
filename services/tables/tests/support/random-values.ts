import type { JsonObject } from "@workflow/json";
import type { Column, ColumnType } from "../../src/domain/column.ts";
import { COLUMN_TYPES } from "../../src/domain/column.ts";

/** Chances that can be repeated: the same seed gives the same ones. */
export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** An integer from 0 up to, and without, `end`. */
  below(end: number): number;
  /** Whether something that happens so often happens. */
  chance(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32 (https://gist.github.com/tommyettinger/46a874533244883189143505d203312c). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}

const LONG = "abcdefghij".repeat(200);

/** Texts that something about comparing, searching or storing may get wrong. */
const TEXTS = [
  ["a", "A", "Ab", "aB", "ab", "abc", "b", "B", "ba", "bäh", "z", "Z", "Alpha", "alpha", "ALPHA"],
  ["%", "_", "a%b", "a_b", "100%", "\\", "a\\", "\\a", "\\%", "'", '"', "a'b", "$1", ".*", "[a]"],
  ["İ", "i̇", "I", "ı", "i", "İSTANBUL", "istanbul", "ß", "ss", "SS", "ẞ", "Straße", "STRASSE"],
  [
    "ς",
    "σ",
    "Σ",
    "ΑΣ",
    "ας",
    "ασ",
    "ΑΣΑ",
    "ΌΣΟΣ",
    "K",
    "k",
    "\u212a",
    "\u212b",
    "å",
    "Å",
    "ﬁ",
    "fi",
  ],
  ["é", "e\u0301", "É", "E\u0301", "e", "n\u0303", "ñ", "🙂", "👍", "👍🏽", "👩‍👩‍👧", "𐐀", "𐐨", "😀a"],
  ["constructor", "__proto__", "toString", "null", "true", "false", "undefined", "NaN", "Infinity"],
  ["5", "5.0", "05", "1e3", "-1", "0", "10", "9", "2024-01-31", "2024-02-30", "2023-02-29"],
  [
    "2024-02-29",
    "2000-02-29",
    "0001-01-01",
    "0000-12-31",
    "9999-12-31",
    "2024-1-1",
    "2024-01-31T00:00:00Z",
  ],
  [
    "(Blanks)",
    "(blanks)",
    "blank",
    " ",
    "  a",
    "a ",
    "\t",
    "\n",
    "a\nb",
    "\u200b",
    "\u0001",
    "\ufeff",
  ],
  ["{}", "[]", '{"a":1}', '{"a":1,"b":2}', "[1,2]", "a@b.example", "https://b.example/?q=%20"],
  ["\u007f", "\uffff", "\ue000", "a-b", "a b", "ab ", "Zebra", "zebra", "äpfel", "Apfel", "apfel"],
].flat();

const LONG_TEXTS = [
  LONG.slice(0, 1_900),
  LONG.slice(0, 1_998),
  LONG.slice(0, 1_999),
  LONG,
  `${LONG}X`,
  `${LONG}x`,
  `${LONG}end`,
  `${LONG.toUpperCase()}END`,
  `${LONG.slice(1)}🙂 needle`,
  '"'.repeat(1_200),
  "İ".repeat(1_100),
  "i̇".repeat(1_100),
  "Σ".repeat(2_001),
];

const NUMBERS = [
  [0, -0, 1, -1, 2, 5, 9, 10, 42, 100, 1.5, -1.5, 0.1, 0.2, 0.30000000000000004, 1e-7],
  [1e21, 1e300, -1e300, 5e-324, -5e-324, 1.7976931348623157e308, 2 ** 53, -(2 ** 53), 2 ** 31],
].flat();

const DAYS = [
  ["2024-01-31", "2024-02-29", "2023-02-28", "0001-01-01", "9999-12-31", "2024-01-01"],
  ["2023-12-31", "2024-02-01", "1999-12-31", "0999-01-01"],
].flat();

const NO_DAYS = ["1900-02-29", "2023-02-29", "2024-04-31", "2024-00-01", "0000-01-01", "2024-1-01"];

const OTHERS: readonly unknown[] = [
  [[], {}, [1], [1, 2], [2, 1], ["a"], [null], [[]], { a: 1 }, { A: 1 }, { a: "1" }],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: { c: [1, { b: 2, a: 1 }] } }, { a: null }, [0], [-0]],
  [{ 10: 1, 9: { b: 2, a: 1 }, A: 0 }, [{ b: [{ d: 1, c: 2 }], a: "é" }]],
  [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":{"a":1}}'), { constructor: 1 }],
  [{ text: LONG }, [LONG, "tail needle"], { list: Array.from({ length: 400 }, (_, i) => i * 9) }],
].flat();

/** Ids of columns, and keys that no column has. */
const COLUMN_IDS = [
  ["a", "b", "name", "c1", "any", "__proto__", "constructor", "toString", "hasOwnProperty"],
  ["Name", "é", "a.b", "a'b", 'a"b', "a\\", "%", "length", "0", "7"],
].flat();
const UNDECLARED_KEYS = ["ghost", "valueOf", "", "1"];

/** Some begin alike in all that is kept of them. */
const LONG_OPTIONS = [`${LONG}2`, `${LONG}1`, LONG, LONG.slice(1), "open"];
const OPTIONS = ["open", "Closed", "b", "a", "B", "İ", "100%", "closed", "Straße"];

/** Up to seven columns of any types. */
export function randomColumns(random: Random): Column[] {
  const ids = shuffled(random, COLUMN_IDS).slice(0, 2 + random.below(6));
  return ids.map((id) => ({ id, name: `Column ${id}`, ...randomColumnType(random) }));
}

/** What the values of a column are. */
export function randomColumnType(random: Random): Pick<Column, "type" | "options"> {
  const type = random.pick(COLUMN_TYPES);
  if (type !== "select") return { type };
  const options = random.chance(0.1) ? LONG_OPTIONS : OPTIONS;
  return { type, options: shuffled(random, options).slice(0, 1 + random.below(6)) };
}

/** The data of a row: mostly of its columns' types, now and then of others, now and then nothing. */
export function randomData(random: Random, columns: readonly Column[]): JsonObject {
  const entries = columns.flatMap((column): [string, unknown][] =>
    random.chance(0.1) ? [] : [[column.id, randomValue(random, column)]],
  );
  if (random.chance(0.3)) entries.push([random.pick(UNDECLARED_KEYS), randomAny(random)]);
  return Object.fromEntries(entries);
}

/** A value that may stand in a column. */
export function randomValue(random: Random, column: Column): unknown {
  if (random.chance(0.1)) return random.pick([null, ""]);
  if (column.type === "date" && random.chance(0.1)) return random.pick(NO_DAYS);
  return random.chance(0.15) ? randomAny(random) : randomFitting(random, column);
}

/** A value that fits a column, or is blank. */
export function randomFitting(random: Random, { type, options }: Column): unknown {
  if (type === "select" && options !== undefined && random.chance(0.8)) return random.pick(options);
  return randomOfType(random, type);
}

/** A text that is blank seldom and long seldom. */
export function randomText(random: Random): string {
  if (random.chance(0.02)) return random.pick(LONG_TEXTS);
  const text = random.pick(TEXTS);
  return random.chance(0.2) ? text + random.pick(TEXTS) : text;
}

export function randomDay(random: Random): string {
  if (random.chance(0.6)) return random.pick(DAYS);
  return new Date(Date.UTC(2023, 0, 1 + random.below(800))).toISOString().slice(0, 10);
}

export function randomNumber(random: Random): number {
  if (random.chance(0.6)) return random.pick(NUMBERS);
  return random.chance(0.5) ? random.below(20) - 10 : (random.next() - 0.5) * 10;
}

function randomAny(random: Random): unknown {
  return randomOfType(random, random.pick(COLUMN_TYPES));
}

function randomOfType(random: Random, type: ColumnType): unknown {
  switch (type) {
    case "number":
      return randomNumber(random);
    case "boolean":
      return random.chance(0.5);
    case "date":
      return randomDay(random);
    case "json":
      return random.chance(0.6) ? random.pick(OTHERS) : randomScalar(random);
    default:
      return randomText(random);
  }
}

function randomScalar(random: Random): unknown {
  return randomOfType(random, random.pick(["number", "boolean", "date", "text"]));
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, key: random.next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
