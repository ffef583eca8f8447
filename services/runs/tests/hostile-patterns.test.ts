import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { mapping, outputOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const TOO_EXPENSIVE = {
  status: RunStatus.FAILED,
  error: { code: "PATTERN_TOO_EXPENSIVE" },
};
/** Compiles to 100,000 instructions. */
const LARGE = "a{1000}".repeat(100);
const matches = (right: unknown) => ({ left: "a text", operator: "matches", right });

describe("a pattern that a template brings in", () => {
  it("and that is too large fails the step that has it as its condition", async () => {
    const step = { ...mapping("m", 1), when: matches("{{input.pattern}}") };
    const id = await harness.deploy([step]);
    expect(await harness.runToEnd(id, { pattern: LARGE })).toMatchObject(TOO_EXPENSIVE);
    const usual = await harness.runToEnd(id, { pattern: "^a t" });
    expect(usual.status).toBe(RunStatus.COMPLETED);
  });

  it("fails a condition step, among 500 that are too large together", async () => {
    const any = Array.from({ length: 500 }, (_, index) => matches(`{{input.p[${index}]}}`));
    const id = await harness.deploy([
      {
        id: "c",
        type: "condition",
        name: "c",
        config: { branches: [{ id: "b", when: { any }, steps: [mapping("m", 1)] }] },
      },
    ]);
    const p = any.map((_, index) => `[a-z]{1000}z${index}`);
    expect(await harness.runToEnd(id, { p })).toMatchObject(TOO_EXPENSIVE);
    const usual = await harness.runToEnd(id, { p: ["text$"] });
    expect(outputOf(usual)).toEqual({ branch: "b" });
  });

  it("fails a loop that looks at it", async () => {
    const id = await harness.deploy([
      {
        id: "l",
        type: "loop",
        name: "l",
        config: { while: matches("{{input.pattern}}"), maxIterations: 2, steps: [mapping("m", 1)] },
      },
    ]);
    expect(await harness.runToEnd(id, { pattern: LARGE })).toMatchObject(TOO_EXPENSIVE);
  });
});
