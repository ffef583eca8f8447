import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createWorkflow, getWorkflow, transform, workflowBody } from "../support/scenarios.ts";
import { step, steps, WRONG_DEFINITIONS } from "../support/wrong-definitions.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const violations = z.array(
  z.strictObject({ path: z.array(z.string()), message: z.string().min(1) }),
);

describe("a definition with a mistake", () => {
  it.each(WRONG_DEFINITIONS)("is refused: %s", async (_what, changes, path, words) => {
    const workflow = await createWorkflow(system);
    for (const answer of [
      await system.call("POST", "/workflows", { body: workflowBody(changes) }),
      await system.call("PUT", `/workflows/${workflow.id}`, { body: changes }),
    ]) {
      expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
      const found = violations
        .parse(answer.error?.details)
        .find((violation) => violation.path.join(".") === path);
      expect(found?.message).toContain(words);
    }
    expect(await getWorkflow(system, workflow.id)).toEqual(workflow);
  });
});

describe("references that hold", () => {
  it.each([
    [
      "into a branch of a condition from after it",
      steps(
        step("condition", {
          if: { left: 1, operator: "equals", right: 1 },
          then: [transform("in", 1)],
        }),
        transform("after", "{{steps.in.output}}"),
      ),
    ],
    [
      "into a loop from after it, and from inside to before it",
      steps(
        transform("before", 1),
        step("loop", { count: 1, steps: [transform("in", "{{steps.before.output}}")] }),
        transform("after", "{{steps.in.output}} {{steps.s.output}}"),
      ),
    ],
    [
      "into both branches of a parallel from after it",
      steps(
        step("parallel", {
          branches: [{ steps: [transform("a", 1)] }, { steps: [transform("b", 1)] }],
        }),
        transform("after", "{{steps.a.output}} {{steps.b.output}}"),
      ),
    ],
    [
      "of a loop's condition to the steps inside",
      steps(
        step("loop", {
          while: { left: "{{steps.in.output}}", operator: "not_equals", right: 3 },
          steps: [transform("in", "{{loop.index}}")],
        }),
      ),
    ],
  ])("are accepted: %s", async (_what, changes) => {
    const { id } = await createWorkflow(system, changes);
    expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
  });
});

describe("a definition with many mistakes", () => {
  it("is answered with all of them at once, wherever they are", async () => {
    const body = workflowBody({
      trigger: { type: "webhook" },
      steps: [
        ...Array.from({ length: 44 }, (_, n) =>
          transform(`step-${n}`, `{{steps.gone-${n}.output}}`),
        ),
        step("action", {}, { action: "no.such" }),
      ],
      inputSchema: { type: "strng" },
      settings: { timeoutMs: 0 },
    });
    const { status, error } = await system.call("POST", "/workflows", { body });
    expect(status).toBe(400);
    const found = violations.parse(error?.details);
    expect(found).toHaveLength(48);
    expect(new Set(found.map(({ path }) => path[0]))).toEqual(
      new Set(["trigger", "steps", "inputSchema", "settings"]),
    );
    expect(found.filter(({ message }) => message.includes("gone-"))).toHaveLength(44);
  });

  it("is answered with fifty of more", async () => {
    const list = Array.from({ length: 300 }, (_, n) => step("sms", {}, { id: `s${n}` }));
    const { error } = await system.call("POST", "/workflows", {
      body: workflowBody(steps(...list)),
    });
    expect(violations.parse(error?.details)).toHaveLength(50);
  });
});

describe("a time that Postgres does not know", () => {
  const yearZero = "0000-12-31T23:59:59Z";
  const yearTenThousand = "9999-12-31T23:59:59-12:00";
  it.each([
    ["/runs", "createdAfter"],
    ["/webhook-events", "createdAfter"],
    ["/webhook-events", "createdBefore"],
    ["/audit-logs", "from"],
  ])("is refused by the list %s as %s", async (path, field) => {
    for (const time of [yearZero, yearTenThousand]) {
      const answer = await system.call("GET", `${path}?${field}=${encodeURIComponent(time)}`);
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      expect(violations.parse(answer.error?.details)).toMatchObject([{ path: [field] }]);
    }
  });

  it("is no end of a key's life", async () => {
    const body = { name: "for ever", scopes: ["runs:read"], expiresAt: yearTenThousand };
    const answer = await system.call("POST", "/auth/api-keys", { body });
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(violations.parse(answer.error?.details)).toMatchObject([{ path: ["expiresAt"] }]);
  });
});
