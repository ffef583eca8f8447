import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { WorkflowPlan } from "@workflow/proto/workflows/v1/plans";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const mapping = (id: string, value: unknown) => ({
  id,
  type: "transform",
  name: id,
  config: { mapping: value },
});

interface Draft {
  steps: unknown[];
  trigger?: unknown;
  inputSchema?: unknown;
}

async function create(identity: Identity, { steps, trigger, inputSchema }: Draft): Promise<string> {
  const request = validWorkflow({
    stepsJson: JSON.stringify(steps),
    ...(trigger === undefined ? {} : { triggerJson: JSON.stringify(trigger) }),
    ...(inputSchema === undefined ? {} : { inputSchemaJson: JSON.stringify(inputSchema) }),
  });
  return (await harness.client.createWorkflow(request, { identity })).id;
}

async function plan(draft: Draft, input?: unknown): Promise<WorkflowPlan & { id: string }> {
  const identity = newIdentity();
  const id = await create(identity, draft);
  const inputJson = input === undefined ? undefined : JSON.stringify(input);
  const answer = await harness.client.planWorkflow({ workflowId: id, inputJson }, { identity });
  return { ...answer, id };
}

describe("the plan of a workflow", () => {
  it("tells its steps with what the input decides", async () => {
    const loop = {
      id: "l",
      type: "loop",
      name: "l",
      config: { items: "{{input.list}}", steps: [mapping("m", "{{loop.item}}")] },
    };
    const steps = [mapping("a", "{{input.n}} {{run.workflowId}} {{run.version}}"), loop];
    const planned = await plan({ steps }, { n: 1, list: [] });
    expect(planned).toMatchObject({
      valid: true,
      problems: [],
      secretKeys: [],
      connectionProviders: [],
      nextRunAt: [],
    });
    expect(
      planned.steps.map(({ path, resolvedConfigJson }) => [path, JSON.parse(resolvedConfigJson)]),
    ).toEqual([
      ["a", { mapping: `1 ${planned.id} 1` }],
      ["l", { items: [] }],
      ["l.m", { mapping: "{{loop.item}}" }],
    ]);
  });

  it("names its secrets without asking for their values", async () => {
    const { secretKeys, steps } = await plan({ steps: [mapping("a", "{{secrets.KEY}}")] });
    expect(secretKeys).toEqual(["KEY"]);
    expect(steps[0]?.resolvedConfigJson).toBe('{"mapping":"{{secrets.KEY}}"}');
  });

  it("says what is wrong with the input, as problems and not as an error", async () => {
    const inputSchema = { type: "object", required: ["n"], properties: { n: { type: "number" } } };
    const draft = { steps: [], inputSchema };
    expect(await plan(draft)).toMatchObject({ valid: false, problems: [{ path: ["input", "n"] }] });
    expect(await plan(draft, { n: "1" })).toMatchObject({
      valid: false,
      problems: [{ path: ["input", "n"], message: "must be a number" }],
    });
    expect(await plan(draft, { n: 1 })).toMatchObject({ valid: true, problems: [] });
  });

  it("has the next five firings of a schedule", async () => {
    const trigger = { type: "schedule", interval: { value: 2, unit: "hours" } };
    const before = Date.now();
    const { nextRunAt } = await plan({ steps: [], trigger });
    expect(nextRunAt).toHaveLength(5);
    const times = nextRunAt.map((at) => at.getTime());
    expect(times[0]).toBeGreaterThanOrEqual(before + 7_200_000);
    expect(times.map((at) => at - (times[0] ?? 0))).toEqual(
      [0, 1, 2, 3, 4].map((index) => index * 7_200_000),
    );
  });

  it("is there in every status, and changes nothing", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    const key = { workflowId: id };
    const ask = () => harness.client.planWorkflow({ ...key, inputJson: undefined }, { identity });
    const active = await harness.client.getWorkflow(key, { identity });
    const handedOver = harness.runs.revisionsFor(id);
    await expect(ask()).resolves.toMatchObject({ valid: true });
    expect(await harness.client.getWorkflow(key, { identity })).toEqual(active);
    expect(harness.runs.revisionsFor(id)).toEqual(handedOver);
    await harness.client.pauseWorkflow(key, { identity });
    await expect(ask()).resolves.toMatchObject({ valid: true });
    await harness.client.archiveWorkflow(key, { identity });
    await expect(ask()).resolves.toMatchObject({ valid: true });
  });

  it("tells of a stored definition that later rules would refuse", async () => {
    const identity = newIdentity();
    const id = await create(identity, { steps: [mapping("a", 1)] });
    await harness.database.query(sql.unsafe`
      update workflows.workflows
      set steps = ${JSON.stringify([mapping("a", "{{steps.gone.output}}")])}::json
      where id = ${id}
    `);
    const planned = await harness.client.planWorkflow(
      { workflowId: id, inputJson: undefined },
      { identity },
    );
    expect(planned).toMatchObject({
      valid: false,
      problems: [{ path: ["steps", "0", "config", "mapping"] }],
      steps: [{ id: "a", resolvedConfigJson: '{"mapping":"{{steps.gone.output}}"}' }],
    });
  });
});

describe("a plan is refused", () => {
  it("of a workflow that is not there, of another company, or named by a wrong id", async () => {
    const identity = newIdentity();
    const id = await create(identity, { steps: [] });
    for (const [workflowId, caller] of [
      ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a", identity],
      ["nonsense", identity],
      [id, newIdentity()],
    ] as const) {
      const call = harness.client.planWorkflow(
        { workflowId, inputJson: "{}" },
        { identity: caller },
      );
      expect((await errorOf(call)).reason).toBe("NOT_FOUND");
    }
  });

  it.each([
    ["[]"],
    ["5"],
    ["{"],
    ['{"a":"\\u0000"}'],
    [`{"a":${"[".repeat(70)}${"]".repeat(70)}}`],
  ])("for the input %s", async (inputJson) => {
    const identity = newIdentity();
    const workflowId = await create(identity, { steps: [] });
    const error = await errorOf(
      harness.client.planWorkflow({ workflowId, inputJson }, { identity }),
    );
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path)).toEqual([["input"]]);
  });

  it("without the scope workflows:read", async () => {
    const workflowId = await create(newIdentity(), { steps: [] });
    const identity = newIdentity(["workflows:write", "workflows:execute"]);
    const call = harness.client.planWorkflow({ workflowId, inputJson: undefined }, { identity });
    expect((await errorOf(call)).reason).toBe("FORBIDDEN");
  });
});

describe("the plans of one company", () => {
  it("are made one after the other; beyond 32 at a time they are refused, and others go on", async () => {
    const greedy = newIdentity();
    const other = newIdentity();
    const workflowId = await create(greedy, { steps: [mapping("a", 1)] });
    const otherId = await create(other, { steps: [mapping("a", 1)] });
    const ask = (id: string, identity: Identity) =>
      harness.client.planWorkflow({ workflowId: id, inputJson: undefined }, { identity }).then(
        () => "made",
        (error: unknown) => (isAppError(error) ? error.reason : "unknown"),
      );
    const outcomes = await harness.database.transaction(async (transaction) => {
      // No plan can be made; the greedy ones that are let in wait.
      await transaction.query(
        sql.type(z.object({}))`lock table workflows.workflows in access exclusive mode`,
      );
      const asked = Array.from({ length: 40 }, () => ask(workflowId, greedy));
      const refused = asked.map((outcome) => outcome.then((text) => text === "RATE_LIMITED"));
      await waitForRefusals(refused, 8);
      return { asked, other: ask(otherId, other) };
    });
    expect(await outcomes.other).toBe("made");
    const all = await Promise.all(outcomes.asked);
    expect(all.filter((outcome) => outcome === "RATE_LIMITED")).toHaveLength(8);
    expect(all.filter((outcome) => outcome === "made")).toHaveLength(32);
  });
});

/** Resolves when so many were refused. */
function waitForRefusals(refused: readonly Promise<boolean>[], count: number): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    for (const one of refused) {
      void one.then((isRefused) => {
        seen += isRefused ? 1 : 0;
        if (seen === count) resolve();
      });
    }
  });
}
