import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isUuid } from "@workflow/db";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { errorOf, newIdentity, startHarness, stepsJson, validWorkflow } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("creating a workflow", () => {
  it("stores a draft of version 1 and returns it as get does afterwards", async () => {
    const identity = newIdentity();
    const created = await harness.client.createWorkflow(validWorkflow(), { identity });

    expect(isUuid(created.id)).toBe(true);
    expect(created).toMatchObject({
      name: "Greeting",
      status: WorkflowStatus.DRAFT,
      version: 1,
      triggerJson: '{"type":"api"}',
      stepsJson: stepsJson("hello"),
      description: undefined,
      inputSchemaJson: undefined,
      outputSchemaJson: undefined,
      settingsJson: undefined,
      clonedFrom: undefined,
    });
    expect(created.updatedAt).toEqual(created.createdAt);
    const got = await harness.client.getWorkflow({ workflowId: created.id }, { identity });
    expect(got).toEqual(created);
  });

  it("keeps JSON as JavaScript reads it: the last of repeated names, numbers, __proto__ (D5)", async () => {
    const identity = newIdentity();
    const request = validWorkflow({
      description: "päge 💡\nline two",
      triggerJson: '{ "type":"api", "type" : "manual", "note": 1.50, "big": 12345678901234567890 }',
      stepsJson:
        '[{"z":1,"id":"a","type":"transform","name":"A","config":{"mapping":' +
        `{"__proto__":{"x":1},"b":1e2,"a":"\\u00e4","n":[-0,${"9".repeat(300)}]}}}]`,
      inputSchemaJson: '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
      outputSchemaJson: '{"type": "object"}',
      settingsJson: '{"timeoutMs":1000,"ours":{"10":1,"9":2}}',
    });
    const { id } = await harness.client.createWorkflow(request, { identity });
    const got = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(got).toMatchObject({
      description: request.description,
      triggerJson: '{"type":"manual","note":1.5,"big":12345678901234567000}',
      stepsJson:
        '[{"z":1,"id":"a","type":"transform","name":"A","config":{"mapping":' +
        '{"__proto__":{"x":1},"b":100,"a":"ä","n":[0,1e+300]}}}]',
      inputSchemaJson: request.inputSchemaJson,
      outputSchemaJson: '{"type":"object"}',
      settingsJson: '{"timeoutMs":1000,"ours":{"9":2,"10":1}}',
    });
  });

  it("refuses numbers that JavaScript takes for infinite, with the place of each", async () => {
    const request = validWorkflow({
      triggerJson: '{"type":"api","note":{"a":[1,1e999]}}',
      stepsJson: stepsJson("x").replace('"x"', "-1e400"),
      settingsJson: `{"__proto__":${"9".repeat(400)}}`,
    });
    const error = await errorOf(
      harness.client.createWorkflow(request, { identity: newIdentity() }),
    );
    expect(error.reason).toBe("VALIDATION_ERROR");
    expect(error.violations.map(({ path }) => path.join("."))).toEqual([
      "trigger.note.a.1",
      "steps.0.config.mapping.text",
      "settings.__proto__",
    ]);
  });

  it("hands nothing over to the execution plane", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    await harness.client.archiveWorkflow({ workflowId: id }, { identity });
    expect(harness.runs.requestsFor(id)).toEqual([]);
  });

  it("accepts a name of 255 code points, however many UTF-16 units they take", async () => {
    const name = "💡".repeat(255);
    const identity = newIdentity();
    const created = await harness.client.createWorkflow(validWorkflow({ name }), { identity });
    expect(created.name).toBe(name);
  });
});

describe("a definition that cannot be executed", () => {
  it("is refused with VALIDATION_ERROR, one violation with its path for each problem", async () => {
    const steps = JSON.stringify([
      { id: "a", type: "transform", name: "A", config: { mapping: "{{steps.nowhere.output}}" } },
      { id: "a", type: "transform", name: "B", config: { mapping: 1 } },
      { id: "c", type: "teleport", name: "C", config: {} },
    ]);
    const error = await errorOf(
      harness.client.createWorkflow(validWorkflow({ stepsJson: steps }), {
        identity: newIdentity(),
      }),
    );
    expect(error.reason).toBe("VALIDATION_ERROR");
    const places = error.violations.map(({ path }) => path.slice(0, 2).join("."));
    expect(new Set(places)).toEqual(new Set(["steps.0", "steps.1", "steps.2"]));
  });

  it("is refused for its trigger as well as for its steps", async () => {
    const request = validWorkflow({ triggerJson: '{"type":"moonlight"}', stepsJson: "[5]" });
    const error = await errorOf(
      harness.client.createWorkflow(request, { identity: newIdentity() }),
    );
    expect(error.reason).toBe("VALIDATION_ERROR");
    const roots = error.violations.map(({ path }) => path[0]);
    expect(roots).toEqual(expect.arrayContaining(["trigger", "steps"]));
  });
});
