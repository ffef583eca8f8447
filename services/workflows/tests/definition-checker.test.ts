import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { createExpressionPool } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import { createDefinitionChecker } from "../src/validation/definition-checker.ts";
import type { DefinitionChecker } from "../src/validation/definition-checker.ts";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const transform = (id: string, expression: string) => ({
  id,
  type: "transform",
  name: id,
  config: { expression },
});

describe("a definition's check", () => {
  let pool: ExpressionPool;
  let checker: DefinitionChecker;
  const parsed: string[] = [];
  beforeAll(() => {
    const real = createExpressionPool({ processes: 2 });
    pool = {
      ...real,
      parse(companyId, expression) {
        parsed.push(`${companyId} ${expression}`);
        return real.parse(companyId, expression);
      },
    };
    checker = createDefinitionChecker(pool);
  });
  afterEach(() => void parsed.splice(0));
  afterAll(() => pool.close());

  const question = (companyId: string, steps: unknown[], mayBeUnfinished = false) => ({
    companyId,
    mayBeUnfinished,
    content: {
      triggerJson: '{"type":"api"}',
      stepsJson: JSON.stringify(steps),
      inputSchemaJson: null,
      outputSchemaJson: null,
      settingsJson: null,
    },
  });

  it("is made once for what does not change, however often it is asked for", async () => {
    const asked = question("a", [transform("x", "1 + 1"), transform("y", "1 + 1")]);
    expect(checker.recall(asked)).toBeUndefined();
    expect(await Promise.all([checker.check(asked), checker.check(asked)])).toEqual([[], []]);
    expect(await checker.check(asked)).toEqual([]);
    expect(checker.recall(asked)).toEqual([]);
    expect(parsed).toEqual(["a 1 + 1"]);
  });

  it("is made anew for another company and for another text", async () => {
    const steps = [transform("x", "2 + 2")];
    await checker.check(question("a", steps));
    await checker.check(question("b", steps));
    await checker.check(question("a", [transform("x", "2 + 2 + 2")]));
    expect(parsed).toEqual(["a 2 + 2", "b 2 + 2", "a 2 + 2 + 2"]);
  });

  it("tells the step and the place of an expression that is none, again and again", async () => {
    const asked = question("a", [transform("x", "1"), transform("y", "1 +")]);
    const violation = {
      path: ["steps", "1", "config", "expression"],
      message: expect.stringContaining("is not valid JSONata at character 3"),
    };
    expect(await checker.check(asked)).toEqual([violation]);
    expect(await checker.check(asked)).toEqual([violation]);
  });

  it("refuses an expression that no process can parse in its time", async () => {
    const impatient = createExpressionPool({ processes: 1, timeoutMs: 1 });
    try {
      // Quadratic in JSONata: some 0.6 s.
      const text = `a${"@$a.b".repeat(3_270)}`;
      const asked = question("a", [transform("x", text)]);
      expect(await createDefinitionChecker(impatient).check(asked)).toEqual([
        { path: ["steps", "0", "config", "expression"], message: "takes too long to be parsed" },
      ]);
    } finally {
      await impatient.close();
    }
  });

  it("is put off for a company whose expressions fill their queue already", async () => {
    const small = createExpressionPool({
      processes: 1,
      queueLimits: { companyJobsMax: 1, companyCharsMax: 1_000, charsMax: 1_000 },
    });
    try {
      const asked = question("a", [transform("x", "1"), transform("y", "2"), transform("z", "3")]);
      await expect(createDefinitionChecker(small).check(asked)).rejects.toMatchObject({
        reason: "RATE_LIMITED",
      });
    } finally {
      await small.close();
    }
  });
});

describe("an expression that is none", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.close());

  const wrong = JSON.stringify([transform("x", "$sum(")]);
  const violations = [
    {
      path: ["steps", "0", "config", "expression"],
      message: expect.stringContaining("is not valid JSONata at character 5"),
    },
  ];

  it("is refused with its place when it is created, updated and drawn", async () => {
    const identity = newIdentity();
    const { client } = harness;
    const created = client.createWorkflow(validWorkflow({ stepsJson: wrong }), { identity });
    expect(await errorOf(created)).toMatchObject({ reason: "VALIDATION_ERROR", violations });
    const { id: workflowId } = await createActive(client, identity);
    const update = { workflowId, stepsJson: wrong, updateMask: ["steps_json"] };
    expect(await errorOf(client.updateWorkflow(update, { identity }))).toMatchObject({
      reason: "VALIDATION_ERROR",
      violations,
    });
    const canvasStateJson = '{"blocks":{},"edges":[],"loops":{},"parallels":{}}';
    const drawn = { workflowId, stepsJson: wrong, canvasStateJson };
    expect(await errorOf(client.saveCanvas(drawn, { identity }))).toMatchObject({
      reason: "VALIDATION_ERROR",
      violations,
    });
  });

  it("does not keep others' updates of the workflow from making a version each", async () => {
    const identity = newIdentity();
    const { client } = harness;
    const { id: workflowId } = await createActive(client, identity);
    const updates = Array.from({ length: 8 }, (_, index) =>
      client.updateWorkflow(
        {
          workflowId,
          stepsJson: JSON.stringify([transform("x", `${index} + ${index}`)]),
          updateMask: ["steps_json"],
        },
        { identity },
      ),
    );
    const versions = (await Promise.all(updates)).map(({ version }) => version);
    expect(versions.toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
