import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  stepsJson,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const EMPTY_CANVAS = '{"blocks":{},"edges":[],"loops":{},"parallels":{}}';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("SaveCanvas", () => {
  it("keeps the state as JavaScript reads it, a member called __proto__ too", async () => {
    const identity = newIdentity();
    const { id: workflowId } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const canvasStateJson =
      '{ "parallels":{}, "loops":{}, "edges":[{"z":1.0,"a":12345678901234567890}],' +
      ' "blocks":{}, "blocks":{}, "__proto__":{"x":1e40} }';
    const saved = await harness.client.saveCanvas({ workflowId, canvasStateJson }, { identity });
    expect(saved.stateJson).toBe(
      '{"parallels":{},"loops":{},"edges":[{"z":1,"a":12345678901234567000}],"blocks":{},' +
        '"__proto__":{"x":1e+40}}',
    );
    const { canvas, etag } = await harness.client.getWorkflow({ workflowId }, { identity });
    expect(canvas).toEqual(saved);
    expect(etag).toBe(saved.etag);
  });

  it("refuses a number that JavaScript takes for infinite, with its place", async () => {
    const identity = newIdentity();
    const { id: workflowId } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const canvasStateJson = EMPTY_CANVAS.replace("[]", '[{"a":1e999}]');
    const error = await errorOf(
      harness.client.saveCanvas({ workflowId, canvasStateJson }, { identity }),
    );
    expect(error).toMatchObject({
      reason: "VALIDATION_ERROR",
      violations: [{ path: ["canvasState", "edges", "0", "a"] }],
    });
  });

  it.each([
    ["no JSON", "{"],
    ["an array", "[]"],
    ["nothing", ""],
    ["NUL", EMPTY_CANVAS.replace("{}", '{"a\\u0000":{}}')],
    ["a lone surrogate", EMPTY_CANVAS.replace("[]", '[{"a":"\\ud800"}]')],
    [
      "too many nested containers",
      EMPTY_CANVAS.replace("[]", `[{"a":${"[".repeat(70)}${"]".repeat(70)}}]`),
    ],
    ["more than 1 MiB", EMPTY_CANVAS.replace("[]", `[{"a":"${"x".repeat(1024 * 1024)}"}]`)],
  ])("refuses %s as state", async (_what, canvasStateJson) => {
    const identity = newIdentity();
    const { id: workflowId } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const error = await errorOf(
      harness.client.saveCanvas({ workflowId, canvasStateJson }, { identity }),
    );
    expect(error).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["canvasState"] }] });
  });

  it("hands steps of an active workflow over before it answers, and the canvas alone never", async () => {
    const identity = newIdentity();
    const { id: workflowId } = await createActive(harness.client, identity);
    const before = harness.runs.revisionsFor(workflowId);
    await harness.client.saveCanvas({ workflowId, canvasStateJson: EMPTY_CANVAS }, { identity });
    expect(harness.runs.revisionsFor(workflowId)).toEqual(before);
    const steps = stepsJson("saved");
    await harness.client.saveCanvas(
      { workflowId, canvasStateJson: EMPTY_CANVAS, stepsJson: steps },
      { identity },
    );
    expect(harness.runs.deployed.get(workflowId)?.content).toMatchObject({
      version: 2,
      stepsJson: steps,
    });
  });
});

describe("RollbackWorkflow", () => {
  it("is recorded while the execution plane is away, and brought over when it is back", async () => {
    const identity = newIdentity();
    const { id: workflowId, stepsJson: first } = await createActive(harness.client, identity);
    await harness.client.updateWorkflow(
      { workflowId, updateMask: ["steps_json"], stepsJson: stepsJson("second") },
      { identity },
    );
    await harness.runs.stop();
    const error = await errorOf(
      harness.client.rollbackWorkflow({ workflowId, version: 1 }, { identity }),
    );
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    await harness.runs.start();
    await waitFor(() => harness.runs.deployed.get(workflowId)?.content?.version === 3);
    expect(harness.runs.deployed.get(workflowId)?.content?.stepsJson).toBe(first);
  });

  it("of a draft hands nothing over", async () => {
    const identity = newIdentity();
    const { id: workflowId } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const answer = await harness.client.rollbackWorkflow({ workflowId, version: 1 }, { identity });
    expect(answer).toMatchObject({ rolledBackFrom: 1, rolledBackTo: 1, workflow: { version: 2 } });
    expect(harness.runs.requestsFor(workflowId)).toEqual([]);
  });
});
