import { describe, expect, it } from "@jest/globals";
import {
  compileCondition,
  compileJsonSchema,
  DEFINITION_LIMITS,
  evaluateCondition,
  listExpressions,
  planDefinition,
  validateDefinition,
  validateInTurns,
} from "../src/index.ts";
import { createPatternMeter } from "../src/pattern.ts";
import { estimatePatternSize } from "../src/pattern-size.ts";
import { httpStep, mappingStep, problemsOf, step, stepProblems } from "./definition.ts";

const approval = (id: string, form: object) => step("approval", id, { message: "m", form });

/** A form with unique patterns, so that no cache helps. */
const formOf = (patterns: number, pattern: string, name: string): object => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: patterns }, (_, index) => [
      `p${index}`,
      { type: "string", pattern: `${pattern}${name}x${index}` },
    ]),
  ),
});

const scopeOf = (input: unknown) => ({
  input,
  run: {},
  trigger: {},
  steps: new Map(),
  secrets: new Map(),
});

/** The values that are checked entry by entry. A body of 1 MiB has room for 250,000 wrong entries. */
const manyOf = (entry: unknown): unknown[] => Array.from({ length: 250_000 }, () => entry);
const memberNames = Object.fromEntries(manyOf(null).map((_, index) => [`h${index}`, {}]));

describe("a list in a config", () => {
  it.each([
    ["successStatuses", { successStatuses: manyOf(0) }],
    ["headers", { headers: memberNames }],
    ["query.many", { query: { many: manyOf({}) } }],
  ])("is refused as a whole when it is long: %s", (place, config) => {
    const request = { method: "GET", url: "https://example.com", ...config };
    expect(stepProblems(httpStep("a", { config: request }))).toEqual([
      `steps.0.config.${place}: must have at most 2000 entries`,
    ]);
  });

  it("is refused as a whole in other steps, too", () => {
    const mail = step("email", "a", { to: manyOf(1), subject: "s", text: "t" });
    expect(stepProblems(mail)).toEqual(["steps.0.config.to: must have at most 2000 entries"]);
  });

  it("is refused as a whole in a trigger that has a default for it", () => {
    const trigger = { type: "table", tableId: "t", events: manyOf("x") };
    const problems = problemsOf({ trigger, steps: [mappingStep("a", 1)] });
    expect(problems).toContain("trigger.events: must have at most 2000 entries");
  });

  it("may be long where nothing is asked of its entries", () => {
    const body = manyOf(0);
    const request = { method: "POST", url: "https://example.com", body };
    expect(stepProblems(httpStep("a", { config: request }))).toEqual([]);
    expect(stepProblems(mappingStep("b", { many: body }))).toEqual([]);
  });
});

describe("a definition", () => {
  it("has so many patterns in all its schemas, and is told where they get too many", () => {
    const steps = Array.from({ length: 30 }, (_, index) =>
      approval(`a${index}`, formOf(9, "[a-z]{100}", `s${index}`)),
    );
    const problems = stepProblems(...steps);
    // 9 × 106 parts a form: the eleventh goes over 10,000.
    expect(problems[0]).toContain("steps.10.config.form: cannot be used: the patterns");
    expect(problems[0]).toContain(`at most ${DEFINITION_LIMITS.patternSizeSumMax} parts`);
    expect(stepProblems(...steps.slice(0, 10))).toEqual([]);
  });

  it("counts the patterns of conditions and of schemas together", () => {
    const pattern = `[a-z]{900}`;
    const conditions = Array.from({ length: 10 }, (_, index) => ({
      left: "a",
      operator: "matches",
      right: `${pattern}c${index}`,
    }));
    const form = approval("b", formOf(1, "[a-z]{900}", "last"));
    expect(stepProblems(mappingStep("a", 1, { when: { any: conditions } }), form)).toEqual([]);
    const fuller = [...conditions, { left: "a", operator: "matches", right: `${pattern}more` }];
    expect(stepProblems(mappingStep("a", 1, { when: { any: fuller } }), form)).toEqual([
      expect.stringContaining("steps.1.config.form: cannot be used: the patterns"),
    ]);
  });

  it("has so many schemas, and is told where they get too many", () => {
    const steps = Array.from({ length: 500 }, (_, index) =>
      approval(`a${index}`, { type: "object", title: `t${index}` }),
    );
    const [problem] = stepProblems(...steps);
    expect(problem).toMatch(/^steps\.363\.config\.form: cannot be used: the JSON Schemas of a/);
    expect(stepProblems(...steps.slice(0, 363))).toEqual([]);
  });

  it("has so many characters of JSONata, and is told where they get too many", () => {
    const steps = Array.from({ length: 63 }, (_, index) =>
      step("transform", `t${index}`, { expression: `"${"x".repeat(16_000)}${index}"` }),
    );
    const [problem] = stepProblems(...steps);
    expect(problem).toBe(
      "steps.16.config.expression: the expressions of a definition have at most 262144 characters together",
    );
    expect(listExpressions(steps)).toEqual([]);
    expect(listExpressions(steps.slice(0, 16))).toHaveLength(16);
    expect(stepProblems(...steps.slice(0, 16))).toEqual([]);
  });

  it("is found as wrong in turns as at once", async () => {
    const steps = Array.from({ length: 200 }, (_, index) => mappingStep(`s${index}`, "{{x}}"));
    const definition = { trigger: { type: "api" }, steps };
    expect(await validateInTurns(definition)).toEqual(validateDefinition(definition));
    expect(await validateInTurns({ ...definition, steps: [] })).toMatchObject({ ok: true });
  });

  it("lets others have their turn while it is checked", async () => {
    const steps = Array.from({ length: 600 }, (_, index) =>
      approval(`a${index}`, { type: "object", title: `turn${index}` }),
    );
    let turns = 0;
    const other = setImmediate(() => (turns += 1));
    await validateInTurns({ trigger: { type: "api" }, steps });
    clearImmediate(other);
    // The check yields after each 10 ms of work, and this definition takes several times as long.
    expect(turns).toBe(1);
  });
});

describe("the size of a pattern", () => {
  it.each([
    ["abc", 3],
    ["a{1000}", 1_000],
    ["(ab){10}", 40],
    ["(?:[a-z]{20}x){30}", 720],
    ["a{3,}", 4],
    ["\\d{4}-\\p{L}+", 27],
    ["[\\p{L}\\p{N}]{10}", 410],
    ["[[:alpha:]\\]]{5}", 5],
    ["(((((a{2}){2}){2}){2}){2}){2}", 188],
  ])("%s is at most some %d parts", (source, size) => {
    expect(estimatePatternSize(source)).toBeGreaterThanOrEqual(size);
    expect(estimatePatternSize(source)).toBeLessThan(size * 1.5 + 3);
  });

  it("keeps one from being compiled that repeats too much", () => {
    const right = "a{1000}".repeat(140);
    expect(
      stepProblems(mappingStep("a", 1, { when: { left: "a", operator: "matches", right } })),
    ).toEqual([
      expect.stringContaining("steps.0.when.right: is not a usable pattern: it is too large"),
    ]);
    expect(problemsOf({ steps: [], inputSchema: { pattern: right } })).toEqual([
      expect.stringContaining("inputSchema: cannot be used: the patterns are too large together"),
    ]);
  });
});

describe("matches", () => {
  const matches = compileCondition({
    left: "{{input.text}}",
    operator: "matches",
    right: "{{input.pattern}}",
  });
  const decide = (text: string, pattern: string) =>
    evaluateCondition(matches, scopeOf({ text, pattern }));

  it("finds a pattern that only the run brings", () => {
    expect(decide("order 12", "^order \\d+$")).toBe(true);
    expect(decide("order x", "^order \\d+$")).toBe(false);
    expect(decide("x", "(")).toBe(false);
  });

  it.each([
    ["a large text", "ab".repeat(500_000), "[ab]*a[ab]{15}[cd]"],
    ["a large pattern", "x", "a{1000}".repeat(100)],
    ["a long pattern", "x", "a".repeat(DEFINITION_LIMITS.patternCharsMax + 1)],
  ])("fails with PATTERN_TOO_EXPENSIVE for %s", (_case, text, pattern) => {
    expect(() => decide(text, pattern)).toThrow(
      expect.objectContaining({ code: "PATTERN_TOO_EXPENSIVE" }),
    );
  });

  it("fails where many patterns of one condition cost too much together", () => {
    const many = Array.from({ length: 500 }, (_, index) => `{{input.patterns[${index}]}}`);
    const patterns = many.map((_, index) => `[a-z]{1000}together${index}`);
    const condition = {
      any: many.map((right) => ({ left: "{{input.text}}", operator: "matches", right })),
    };
    expect(() =>
      evaluateCondition(compileCondition(condition), scopeOf({ text: "x", patterns })),
    ).toThrow(expect.objectContaining({ code: "PATTERN_TOO_EXPENSIVE" }));
    const steps = many.map((right, index) =>
      mappingStep(`s${index}`, 1, { when: { left: "x", operator: "matches", right } }),
    );
    const options = { violations: [], workflowId: "w", version: 1, now: new Date() };
    // The run decides on values that are too large for a plan.
    expect(
      planDefinition({ trigger: { type: "api" }, steps }, { ...options, input: { patterns } }),
    ).toMatchObject({ valid: true });
  });

  it("spends what it costs", () => {
    const meter = createPatternMeter(100_000);
    const costly = scopeOf({ text: "x".repeat(10_000), pattern: "^y+$" });
    expect(evaluateCondition(matches, costly, meter)).toBe(false);
    expect(() => evaluateCondition(matches, costly, meter)).toThrow("is not tried");
  });
});

describe("a JSON Schema", () => {
  it("says what it takes of memory", () => {
    const schema = compileJsonSchema(formOf(3, "[a-z]{10}", "m"));
    expect(schema).toMatchObject({ ok: true });
    if (schema.ok) expect(schema.bytes).toBeGreaterThan(96 * 1024);
  });

  it("of a definition is so large that it compiles in one go, and is told where it is larger", () => {
    const schemaOf = (fields: number) => ({
      properties: Object.fromEntries(
        Array.from({ length: fields }, (_, index) => [`large${index}`, { type: "string" }]),
      ),
    });
    expect(problemsOf({ steps: [], inputSchema: schemaOf(398) })).toEqual([]);
    expect(problemsOf({ steps: [], outputSchema: schemaOf(399) })).toEqual([
      expect.stringContaining("outputSchema: cannot be used: a JSON Schema of a definition has at"),
    ]);
    // A schema that was stored under an earlier rule still works.
    expect(compileJsonSchema(schemaOf(900))).toMatchObject({ ok: true });
  });
});
