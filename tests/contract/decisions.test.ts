import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/decisions.md";
const CITATION = /\bD\d{1,2}a?\b/g;
const FOLDERS = "bench,deploy,docs,examples,packages,proto,services,tests";
/** Files that cite decisions, beside the page itself and what is generated. */
const SOURCES = [`{${FOLDERS}}/**/*.{ts,md,sql,proto,sh}`, "*.md"];
const LEFT_OUT = [PAGE, "**/node_modules", "proto/gen"];

/** The files that cite each decision, by its number. */
function citations(): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const file of globSync(SOURCES, { cwd: ROOT, exclude: LEFT_OUT })) {
    const numbers = readFileSync(join(ROOT, file), "utf8").match(CITATION) ?? [];
    for (const number of new Set(numbers)) {
      files.set(number, [...(files.get(number) ?? []), file]);
    }
  }
  return files;
}

describe("docs/decisions.md", () => {
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  const listed = [...page.matchAll(/^- \*\*(D\d{1,2}a?), /gm)].map(([, number = ""]) => number);

  it("has every decision that code, tests or documents cite", () => {
    const unknown = [...citations()].filter(([number]) => !listed.includes(number));
    expect(unknown).toEqual([]);
  });

  it("has no decision that nothing cites", () => {
    const cited = citations();
    expect(listed.filter((number) => !cited.has(number))).toEqual([]);
  });

  it("has each decision once, in the order of the numbers", () => {
    const order = (number: string): number => Number.parseInt(number.slice(1), 10);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.map(order)).toEqual(listed.map(order).toSorted((a, b) => a - b));
  });
});
