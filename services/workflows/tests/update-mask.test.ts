import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  stepsJson,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { updatesBy } from "./support/updates.ts";
import type { Updates } from "./support/updates.ts";

let harness: Harness;
let update: Updates["update"];
let get: Updates["get"];
beforeAll(async () => {
  harness = await startHarness();
  ({ update, get } = updatesBy(harness));
});
afterAll(() => harness.close());

describe("the update mask", () => {
  it.each([[undefined], [[]]])("changes nothing of a draft when it is %p", async (mask) => {
    const identity = newIdentity();
    const workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
    expect(await update(workflow, identity, mask, { name: "Renamed" })).toEqual(workflow);
    expect(await get(workflow, identity)).toEqual(workflow);
  });

  it.each([[undefined], [[]]])(
    "makes an active workflow's next version of the same content when it is %p (D20)",
    async (mask) => {
      const identity = newIdentity();
      const workflow = await createActive(harness.client, identity);
      const changes = { name: "Renamed", changeSummary: "for the record" };
      const updated = await update(workflow, identity, mask, changes);
      const { etag, updatedAt } = updated;
      expect(updated).toEqual({ ...workflow, version: 2, etag, updatedAt });
      const { versions } = await harness.client.listVersions(
        { workflowId: workflow.id, limit: 0, cursor: "" },
        { identity },
      );
      expect(versions).toMatchObject([
        { version: 2, changeSummary: "for the record" },
        { version: 1, changeSummary: undefined },
      ]);
      expect(harness.runs.deployed.get(workflow.id)?.content?.version).toBe(2);
    },
  );

  it("keeps a summary of a draft's only version, also without a change", async () => {
    const identity = newIdentity();
    const workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
    await update(workflow, identity, [], { changeSummary: "why" });
    const version = await harness.client.getVersion(
      { workflowId: workflow.id, version: 1 },
      { identity },
    );
    expect(version.changeSummary).toBe("why");
  });

  it("clears what may be absent and is named but not set", async () => {
    const identity = newIdentity();
    const full = validWorkflow({
      description: "d",
      inputSchemaJson: "{}",
      outputSchemaJson: "{}",
      settingsJson: "{}",
    });
    const workflow = await harness.client.createWorkflow(full, { identity });
    const mask = ["description", "input_schema_json", "output_schema_json", "settings_json"];
    expect(await update(workflow, identity, mask)).toMatchObject({
      name: "Greeting",
      description: undefined,
      inputSchemaJson: undefined,
      outputSchemaJson: undefined,
      settingsJson: undefined,
    });
  });

  it("leaves fields alone that are set but not named", async () => {
    const identity = newIdentity();
    const workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
    const updated = await update(workflow, identity, ["description"], {
      description: "new",
      name: "not named",
    });
    expect(updated).toMatchObject({ name: "Greeting", description: "new" });
  });

  it.each([
    { mask: ["name", "trigger_json", "steps_json"], fields: ["name", "trigger", "steps"] },
    { mask: ["status"], fields: ["updateMask"] },
    { mask: ["version", "company_id", "__proto__"], fields: ["updateMask"] },
    { mask: ["change_summary"], fields: ["updateMask"] },
  ])("is BAD_REQUEST when it names $mask and nothing is set", async ({ mask, fields }) => {
    const identity = newIdentity();
    const workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
    const error = await errorOf(update(workflow, identity, mask));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path[0])).toEqual(fields);
    expect(await get(workflow, identity)).toEqual(workflow);
  });
});

describe("the size of a workflow", () => {
  it("counts as a whole: what is kept and what is new must fit into 1 MiB together (D4)", async () => {
    const identity = newIdentity();
    const request = validWorkflow({ stepsJson: stepsJson("x".repeat(600 * 1024)) });
    const workflow = await harness.client.createWorkflow(request, { identity });
    const error = await errorOf(
      update(workflow, identity, ["description"], { description: "d".repeat(500 * 1024) }),
    );
    expect(error.reason).toBe("PAYLOAD_TOO_LARGE");
    expect(await get(workflow, identity)).toEqual(workflow);
  });

  it("bounds the change summary too", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    for (const changeSummary of ["s".repeat(10_001), "a\0b"]) {
      const call = update(workflow, identity, ["name"], { name: "n", changeSummary });
      const error = await errorOf(call);
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.violations.map(({ path }) => path)).toEqual([["changeSummary"]]);
    }
    expect(await get(workflow, identity)).toEqual(workflow);
  });
});
