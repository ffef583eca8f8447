import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { z } from "zod";
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

const archivedVersion = z.object({
  version: z.number(),
  name: z.string(),
  steps: z.string(),
  changeSummary: z.string().nullable(),
  createdAt: z.date(),
  archivedAt: z.date(),
});

/** The archived versions of a workflow, oldest first. */
function history(workflow: { id: string }) {
  return harness.database.any(sql.type(archivedVersion)`
    select
      version, name, steps::text, change_summary as "changeSummary", created_at as "createdAt",
      archived_at as "archivedAt"
    from workflows.workflow_versions
    where workflow_id = ${workflow.id}
    order by version
  `);
}

describe("updating a workflow that is not active", () => {
  it.each(["draft", "paused"])(
    "changes a %s one in place, without a new version",
    async (status) => {
      const identity = newIdentity();
      let workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
      if (status === "paused") {
        await harness.client.activateWorkflow({ workflowId: workflow.id }, { identity });
        workflow = await harness.client.pauseWorkflow({ workflowId: workflow.id }, { identity });
      }
      const pushes = harness.runs.revisionsFor(workflow.id);

      const updated = await update(workflow, identity, ["name", "steps_json"], {
        name: "Renamed",
        stepsJson: stepsJson("bye"),
      });
      expect(updated).toEqual({
        ...workflow,
        name: "Renamed",
        stepsJson: stepsJson("bye"),
        updatedAt: updated.updatedAt,
        etag: updated.etag,
      });
      expect(updated.etag).not.toBe(workflow.etag);
      expect(updated.updatedAt?.getTime()).toBeGreaterThanOrEqual(
        workflow.updatedAt?.getTime() ?? Infinity,
      );
      expect(await get(workflow, identity)).toEqual(updated);
      expect(await history(workflow)).toEqual([]);
      expect(harness.runs.revisionsFor(workflow.id)).toEqual(pushes);
    },
  );

  it("refuses an archived one", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    const archived = await harness.client.archiveWorkflow(
      { workflowId: workflow.id },
      { identity },
    );
    for (const mask of [["name"], []]) {
      const error = await errorOf(update(workflow, identity, mask, { name: "Renamed" }));
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.details).toEqual({ currentStatus: "archived" });
    }
    expect(await get(workflow, identity)).toEqual(archived);
  });
});

describe("updating an active workflow", () => {
  it("makes the next version, keeps the old one and has the new one deployed when it answers (D20)", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity, { inputSchemaJson: "{}" });
    const updated = await update(workflow, identity, ["steps_json", "input_schema_json"], {
      stepsJson: stepsJson("bye"),
      changeSummary: "says bye",
    });

    expect(updated).toMatchObject({
      status: WorkflowStatus.ACTIVE,
      version: 2,
      inputSchemaJson: undefined,
    });
    expect(harness.runs.deployed.get(workflow.id)).toMatchObject({
      revision: 2,
      content: {
        name: "Greeting",
        version: 2,
        stepsJson: stepsJson("bye"),
        inputSchemaJson: undefined,
      },
    });
    expect(await history(workflow)).toEqual([
      {
        version: 1,
        name: "Greeting",
        steps: stepsJson("hello"),
        changeSummary: null,
        createdAt: workflow.createdAt,
        archivedAt: updated.updatedAt,
      },
    ]);
  });

  it("keeps a change's summary with the version that the change made", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    await update(workflow, identity, ["name"], { name: "Second", changeSummary: "renamed" });
    await update(workflow, identity, ["name"], { name: "Third" });
    const summaries = (await history(workflow)).map(({ changeSummary }) => changeSummary);
    expect(summaries).toEqual([null, "renamed"]);
  });

  it("makes a new version even of the same content", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    const updated = await update(workflow, identity, ["name"], { name: workflow.name });
    expect(updated.version).toBe(2);
  });

  it("keeps everything, and deploys nothing, when the result is not executable", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    const steps = JSON.stringify([
      { id: "a", type: "transform", name: "A", config: { mapping: "{{steps.b.output}}" } },
    ]);
    const error = await errorOf(update(workflow, identity, ["steps_json"], { stepsJson: steps }));
    expect(error.reason).toBe("VALIDATION_ERROR");
    expect(error.violations[0]?.path.slice(0, 2)).toEqual(["steps", "0"]);
    expect(await get(workflow, identity)).toEqual(workflow);
    expect(await history(workflow)).toEqual([]);
    expect(harness.runs.revisionsFor(workflow.id)).toEqual([1]);
  });

  it("by 20 clients at once makes 20 versions, none skipped or repeated, each with its own content", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        update(workflow, identity, ["name"], { name: `Name ${index}` }),
      ),
    );
    const versions = answers.map(({ version }) => version).sort((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));

    const nameOf = new Map(answers.map(({ version, name }) => [version, name]));
    nameOf.set(1, workflow.name);
    const archived = await history(workflow);
    expect(archived.map(({ version }) => version)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    for (const { version, name } of archived) expect(name).toBe(nameOf.get(version));
    for (const [index, { createdAt, archivedAt }] of archived.entries()) {
      expect(archivedAt.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
      expect(archived[index + 1]?.createdAt ?? archivedAt).toEqual(archivedAt);
    }
    const current = await get(workflow, identity);
    expect(current).toMatchObject({ version: 21, name: nameOf.get(21) });
    expect(harness.runs.deployed.get(workflow.id)?.content).toMatchObject({
      version: 21,
      name: nameOf.get(21),
    });
  });

  it("of different fields at once loses none of them", async () => {
    const identity = newIdentity();
    const workflow = await createActive(harness.client, identity);
    await Promise.all([
      update(workflow, identity, ["name"], { name: "Renamed" }),
      update(workflow, identity, ["description"], { description: "described" }),
      update(workflow, identity, ["steps_json"], { stepsJson: stepsJson("bye") }),
      update(workflow, identity, ["settings_json"], { settingsJson: '{"timeoutMs":1000}' }),
    ]);
    expect(await get(workflow, identity)).toMatchObject({
      version: 5,
      name: "Renamed",
      description: "described",
      stepsJson: stepsJson("bye"),
      settingsJson: '{"timeoutMs":1000}',
    });
  });
});

describe("updates and an activation at once", () => {
  it("leave deployed what is stored, whichever came first", async () => {
    const identity = newIdentity();
    const workflow = await harness.client.createWorkflow(validWorkflow(), { identity });
    const [activated] = await Promise.allSettled([
      harness.client.activateWorkflow({ workflowId: workflow.id }, { identity }),
      ...Array.from({ length: 10 }, (_, index) =>
        update(workflow, identity, ["steps_json"], { stepsJson: stepsJson(`text ${index}`) }),
      ),
    ]);
    // Under this much contention the activation may give up, but only with CONFLICT.
    if (activated.status === "rejected") {
      expect(activated.reason).toMatchObject({ reason: "CONFLICT" });
      await harness.client.activateWorkflow({ workflowId: workflow.id }, { identity });
    }
    const stored = await get(workflow, identity);
    expect(harness.runs.deployed.get(workflow.id)?.content).toMatchObject({
      version: stored.version,
      stepsJson: stored.stepsJson,
    });
    expect(await history(workflow)).toHaveLength(stored.version - 1);
  });
});
