import { deserialize, serialize } from "node:v8";
import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import { createVector, listDistinct, restoreVector, selectRows } from "../src/engine/index.ts";
import type { SavedPart, Vector } from "../src/engine/index.ts";
import { finish } from "../src/engine/steps.ts";
import { columnOf, rowsOf, vectorOf } from "./support/engine-queries.ts";

/** Repeatable numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What queries see of a vector. */
function viewOf(column: Column, vector: Vector) {
  const source = rowsOf(vector);
  const limit = vector.length;
  const inOrder = (descending: boolean) =>
    selectRows(source, { filter: [], sort: { column, descending }, limit, offset: 0 }).indexes;
  const contains = { on: "text", operator: "contains", value: "7" } as const;
  const filter = [{ kind: "column", column, condition: contains }] as const;
  return {
    length: vector.length,
    ascending: inOrder(false),
    descending: inOrder(true),
    found: selectRows(source, { filter, sort: null, limit, offset: 0 }).indexes,
    distinct: listDistinct(source, { column, filter: [], search: "", limit: 500 }),
  };
}

const WORDS = [
  "north",
  "Straße",
  "Ärger",
  "ärger",
  "漢字",
  "😀",
  "и\u0306",
  "https://example.com/",
];

/** By kind of column, a random value of it: mostly one that fits. */
const VALUES: Readonly<Record<string, (random: () => number) => unknown>> = {
  "few texts": (random) => WORDS[Math.floor(random() * WORDS.length)],
  "texts that differ": (random) =>
    `${WORDS[Math.floor(random() * WORDS.length)]}${Math.floor(random() * 1e6)}`,
  numbers: (random) => Math.floor(random() * 2_000) / 8 - 50,
  "anything at all": (random) =>
    [null, "", 7, "7", true, { b: random(), a: 7 }, [7], "x".repeat(2_100)][
      Math.floor(random() * 8)
    ],
};

describe.each([
  ["few texts", columnOf("text")],
  ["few texts", columnOf("select", ["ärger", "north"])],
  ["texts that differ", columnOf("text")],
  ["texts that differ", columnOf("select", ["north7", "north"])],
  ["texts that differ", columnOf("json")],
  ["numbers", columnOf("number")],
  ["numbers", columnOf("json")],
  ["anything at all", columnOf("json")],
  ["anything at all", columnOf("text")],
] as const)("a vector with %s in a column %j", (kind, column) => {
  const valueOf = (random: () => number) => VALUES[kind]?.(random);

  it("answers after any changes as one that was made of the values at once", () => {
    const random = createRandom(kind.length);
    const values: unknown[] = [];
    let vector = createVector(column.type);
    const append = (count: number) => {
      const added = Array.from({ length: count }, () => valueOf(random));
      values.push(...added);
      vector.append(added);
    };
    const set = (count: number) => {
      for (let change = 0; change < count; change += 1) {
        const row = Math.floor(random() * values.length);
        values[row] = random() < 0.2 ? values[row] : valueOf(random);
        vector.set(row, values[row]);
      }
    };
    const check = () =>
      expect(viewOf(column, vector)).toEqual(viewOf(column, vectorOf(column, values)));

    /** Takes the vector to disk and back, as far as that concerns the vector. */
    const spill = () => {
      const pieces = Array.from(vector.save(), serialize);
      const isOrdered = vector.isOrdered;
      vector.append([values[0]]);
      vector.set(0, "what is saved does not change with the vector");
      vector = finish(restoreVector(pieces.map((piece): SavedPart => deserialize(piece))));
      expect(vector.isOrdered).toBe(isOrdered);
    };

    append(3_000);
    spill();
    check();
    spill();
    check();
    for (const step of [() => append(1), () => set(1), () => append(40), () => set(60)]) {
      step();
      check();
    }
    spill();
    set(40);
    spill();
    append(20);
    check();
    set(1_500);
    append(3_500);
    check();
    spill();
    const kept = Int32Array.from([...values.keys()].filter((row) => row % 3 !== 0));
    const keptValues = Array.from(kept, (row) => values[row]);
    values.splice(0, values.length, ...keptValues);
    vector.keep(kept);
    check();
    append(5);
    set(5);
    check();
    spill();
    check();
  });
});

describe("a vector", () => {
  it("knows no rows beyond its end", () => {
    const vector = vectorOf(columnOf("text"), ["a"]);
    expect(() => vector.set(1, "b")).toThrow(RangeError);
    expect(() => vector.set(-1, "b")).toThrow(RangeError);
  });

  it("tells at least what its texts occupy, and less when they are gone", () => {
    const texts = Array.from({ length: 10_000 }, (_, row) => `Wert ${row} ${"ж".repeat(50)}`);
    const vector = vectorOf(columnOf("text"), texts);
    expect(vector.bytes).toBeGreaterThan(10_000 * 100);
    expect(vector.bytes).toBeLessThan(10_000 * 250);
    const before = vector.bytes;
    const contains = { on: "text", operator: "contains", value: "я" } as const;
    const filter = [{ kind: "column", column: columnOf("text"), condition: contains }] as const;
    selectRows(rowsOf(vector), { filter, sort: null, limit: 1, offset: 0 });
    expect(vector.bytes).toBeGreaterThan(before + 10_000 * 100);
    for (let row = 0; row < texts.length; row += 1) vector.set(row, null);
    expect(vector.bytes).toBeLessThan(10_000 * 20);
  });

  it("keeps a text once that many rows have", () => {
    const values = Array.from({ length: 10_000 }, () => "a text that is longer than its number");
    expect(vectorOf(columnOf("text"), values).bytes).toBeLessThan(10_000 * 10);
  });

  it("forgets what is no longer used in a column that changes without end", () => {
    const vector = vectorOf(columnOf("text"), ["a", "b"]);
    for (let change = 0; change < 20_000; change += 1) vector.set(change % 2, `text ${change}`);
    expect(vector.bytes).toBeLessThan(2_000);
  });
});
