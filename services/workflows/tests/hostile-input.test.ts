import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { CreateWorkflowRequest } from "@workflow/proto/workflows/v1/workflows";
import { errorOf, newIdentity, startHarness, stepsJson, validWorkflow } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

/** A definition whose deepest container is at the given depth. */
const stepsOfDepth = (depth: number): string =>
  // Around the value: the array of steps, the step, its config, the mapping.
  stepsJson("hello").replace('"hello"', nested(depth - 4));

const shapes: { name: string; field: string; request: Partial<CreateWorkflowRequest> }[] = [
  { name: "an empty name", field: "name", request: { name: "" } },
  { name: "a name of 256 characters", field: "name", request: { name: "n".repeat(256) } },
  { name: "a name with NUL", field: "name", request: { name: "a\0b" } },
  { name: "a description with NUL", field: "description", request: { description: "a\0b" } },
  { name: "a trigger that is missing", field: "trigger", request: { triggerJson: "" } },
  { name: "a trigger that is not JSON", field: "trigger", request: { triggerJson: "{type:api}" } },
  { name: "a trigger that is an array", field: "trigger", request: { triggerJson: "[]" } },
  { name: "a trigger that is null", field: "trigger", request: { triggerJson: "null" } },
  { name: "steps that are an object", field: "steps", request: { stepsJson: "{}" } },
  { name: "steps nested too deep", field: "steps", request: { stepsJson: stepsOfDepth(65) } },
  {
    name: "steps nested beyond any stack",
    field: "steps",
    request: { stepsJson: nested(400_000) },
  },
  {
    name: "nesting that a duplicate key hides",
    field: "settings",
    request: { settingsJson: `{"a":${nested(10_000)},"a":1}` },
  },
  {
    name: "an escaped NUL in a key",
    field: "settings",
    request: { settingsJson: '{"a":{"\\u0000":1}}' },
  },
  {
    name: "an escaped lone surrogate in a value",
    field: "steps",
    request: { stepsJson: stepsJson("x").replace('"x"', '"\\ud800"') },
  },
  {
    name: "an input schema that is true",
    field: "inputSchema",
    request: { inputSchemaJson: "true" },
  },
  {
    name: "an output schema that is null",
    field: "outputSchema",
    request: { outputSchemaJson: "null" },
  },
  { name: "settings that are a text", field: "settings", request: { settingsJson: '"fast"' } },
];

describe("a request of the wrong shape", () => {
  it.each(shapes)("is BAD_REQUEST naming the field: $name", async ({ field, request }) => {
    const identity = newIdentity();
    const error = await errorOf(
      harness.client.createWorkflow(validWorkflow(request), { identity }),
    );
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path)).toEqual([[field]]);
    const { workflows } = await harness.client.listWorkflows(
      { status: 0, search: "", page: undefined },
      { identity },
    );
    expect(workflows).toEqual([]);
  });

  it("tells all wrong fields at once", async () => {
    const request = { name: "", description: "", triggerJson: "7", stepsJson: "7" };
    const error = await errorOf(
      harness.client.createWorkflow(request, { identity: newIdentity() }),
    );
    expect(error.violations.map(({ path }) => path[0])).toEqual(["name", "trigger", "steps"]);
  });

  it("says of a trigger and of steps that are not set that they are required", async () => {
    const error = await errorOf(
      harness.client.createWorkflow(
        { name: "n", triggerJson: "", stepsJson: "" },
        { identity: newIdentity() },
      ),
    );
    expect(error.violations).toEqual([
      { path: ["trigger"], message: "is required and must be a JSON object" },
      { path: ["steps"], message: "is required and must be a JSON array" },
    ]);
  });

  it("is PAYLOAD_TOO_LARGE when it would be above 1 MiB as it is stored", async () => {
    const settingsJson = `{"n":[${Array.from({ length: 100_000 }, () => "1e20").join(",")}]}`;
    const error = await errorOf(
      harness.client.createWorkflow(validWorkflow({ settingsJson }), { identity: newIdentity() }),
    );
    expect(error.reason).toBe("PAYLOAD_TOO_LARGE");
  });

  it("is PAYLOAD_TOO_LARGE above 1 MiB of description and definition together (D4)", async () => {
    const request = validWorkflow({
      description: "d".repeat(600 * 1024),
      stepsJson: stepsJson("x".repeat(500 * 1024)),
    });
    const error = await errorOf(
      harness.client.createWorkflow(request, { identity: newIdentity() }),
    );
    expect(error.reason).toBe("PAYLOAD_TOO_LARGE");
  });
});

describe("values at the limits", () => {
  it("are stored: 64 nested containers, braces and quotes in texts", async () => {
    const identity = newIdentity();
    const request = validWorkflow({
      stepsJson: stepsOfDepth(64),
      description: '{"[\\"',
      settingsJson: JSON.stringify({ note: `\\"${"[".repeat(100)}` }),
    });
    const { id } = await harness.client.createWorkflow(request, { identity });
    const got = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(got).toMatchObject(request);
  });
});
