import { describe, expect, it } from "@jest/globals";
import { createScrubber } from "../src/index.ts";
import type { Scrubber } from "../src/index.ts";
import { SearchBudget } from "../src/search-budget.ts";
import { createSecretFinder } from "../src/secret-finder.ts";
import { ValueSearch } from "../src/value-search.ts";
import { turnsDuring } from "./turns-during.ts";

const MASK = "••••";
/** A tenant may name both the key and the server that answers: each sign begins the key in ten forms. */
const HOSTILE_KEY = `${"%%%%".repeat(50)}x`;
const HOSTILE_TEXT = "%25".repeat(333);
/** 1 MB in a thousand strings. */
const HOSTILE_VALUE = Array.from({ length: 1_000 }, () => HOSTILE_TEXT);

function scrubberOf(...secrets: string[]): Scrubber {
  const scrubber = createScrubber(secrets);
  if (scrubber === null) throw new Error("nothing to scrub");
  return scrubber;
}

/** What a search spends on a value, in units; its text is `chars` long. */
function spentOn(value: unknown): number {
  const budgets: SearchBudget[] = [];
  const finder = createSecretFinder({ everywhere: [HOSTILE_KEY], asText: [], inBase64: [] });
  const search = new ValueSearch({
    wholes: new Set(),
    numbers: new Set(),
    finder: {
      begin(text, budget) {
        if (!budgets.includes(budget)) budgets.push(budget);
        return finder.begin(text, budget);
      },
    },
  });
  search.json(value);
  return budgets.reduce((sum, { spent }) => sum + spent, 0);
}

describe("the search of one value", () => {
  it("compares no more than its whole text is worth, however many strings that is", () => {
    const units = HOSTILE_VALUE.join("").length;
    // The last place may go a little beyond; a floor for each string would be a hundred times as much.
    expect(spentOn(HOSTILE_VALUE)).toBeLessThan(100_000 + 8 * units + 500_000);
    expect(spentOn(HOSTILE_VALUE)).toBeGreaterThan(100_000);
  });

  it("spends nothing on what has no beginning of a secret", () => {
    expect(spentOn({ id: "cus_1", email: "ada@example.com", note: "a word ".repeat(50) })).toBe(0);
  });

  it("masks as a whole what is left when that is spent, so that no secret comes out", async () => {
    const scrubber = scrubberOf(HOSTILE_KEY, "s3cret-value", "4711");
    const rest = { "a s3cret-value": ["b s3cret-value"], list: [1] };
    const value = ["before", HOSTILE_VALUE, "harmless", rest, "s3c", 12, 4711, true, null];
    const clean = await scrubber.jsonInTurns(value);
    expect(clean).toEqual(scrubber.json(value));
    expect(clean).toMatchObject(["before", {}, MASK, MASK, "s3c", 12, MASK, true, null]);
  });

  it("keeps entries apart that are masked as a whole, thousands of them too", () => {
    const entries = Array.from({ length: 50_000 }, (_, index) => [`key ${index}`, index]);
    const value = [HOSTILE_VALUE, 0, "x"];
    const clean = scrubberOf(HOSTILE_KEY).json({
      first: value,
      ...Object.fromEntries(entries),
    });
    if (typeof clean !== "object" || clean === null) throw new Error("no object");
    expect(Object.keys(clean)).toHaveLength(entries.length + 1);
    expect(Object.keys(clean).slice(0, 3)).toEqual(["first", MASK, `${MASK} 2`]);
  });
});

describe("a budget", () => {
  it("that is spent stays so, whatever is granted later", () => {
    const budget = new SearchBudget(100);
    budget.spend(200);
    budget.grant(1_000);
    expect(budget.isSpent).toBe(true);
  });

  it("is spent where a single place would take too long", () => {
    const budget = new SearchBudget(100_000_000);
    budget.enterPlace();
    budget.spend(400_000);
    budget.enterPlace();
    budget.spend(400_000);
    expect(budget.isSpent).toBe(false);
    budget.spend(400_000);
    expect(budget.isSpent).toBe(true);
  });
});

describe("others have their turns", () => {
  it("by what is compared, not by the length of texts", async () => {
    const scrubber = scrubberOf(HOSTILE_KEY);
    // Far less text than a slice; what is harmless is worth something for what comes after it.
    const harmless = "a".repeat(200_000);
    for (const value of [
      [harmless, ...HOSTILE_VALUE.slice(0, 100)],
      { [harmless]: 1, [HOSTILE_TEXT.repeat(100)]: 2 },
    ]) {
      expect(await turnsDuring(() => scrubber.jsonInTurns(value))).toBeGreaterThanOrEqual(2);
    }
    const text = harmless + HOSTILE_TEXT.repeat(100);
    expect(await turnsDuring(() => scrubber.textInTurns(text))).toBeGreaterThanOrEqual(2);
  });
});

describe("the beginning of a long text", () => {
  it("is searched alone, and has no part of a secret at its end", async () => {
    const secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dc".repeat(100);
    const scrubber = scrubberOf(secret);
    for (const before of [0, 400, 498, 500]) {
      const text = `${".".repeat(before)}${secret}${"y".repeat(4 * 1024 * 1024)}`;
      const clean = await scrubber.cutTextInTurns(text, 500);
      expect(clean).toBe(scrubber.cutText(text, 500));
      expect(clean.length).toBeLessThan(2_000);
      expect(clean.slice(0, 500)).toBe(`${".".repeat(before)}${MASK}`.slice(0, 500));
    }
  });
});
