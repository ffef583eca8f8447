import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type { DeploymentContent } from "@workflow/proto/runs/v1/deployments";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { Identity } from "@workflow/rpc";
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

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.runs.failure = null;
  harness.runs.refuses = () => false;
  harness.runs.gate = async () => {};
  harness.runs.askGate = async () => {};
});
afterAll(() => harness.close());

/** Definitions with this text are fine to the workflows service and unknown to the runs service. */
const NEW = "newer than the execution plane";
const isNew = ({ stepsJson }: DeploymentContent): boolean => stepsJson.includes(NEW);

const EMPTY_CANVAS = '{"blocks":{},"edges":[],"loops":{},"parallels":{}}';

const refusal = {
  reason: "VALIDATION_ERROR",
  violations: [{ path: ["steps", "0"], message: "is not known here" }],
};

function refuseWhenAsked(): void {
  harness.runs.refuses = isNew;
}

/** As after a new start of the execution plane in another version between question and hand-over. */
function refuseOnlyWhenHandedOver(): void {
  harness.runs.refuses = (content, when) => when === "handed over" && isNew(content);
}

async function create(identity: Identity, text: string) {
  const request = validWorkflow({ stepsJson: stepsJson(text) });
  const { id } = await harness.client.createWorkflow(request, { identity });
  return id;
}

function putSteps(workflowId: string, text: string, identity: Identity) {
  const update = { workflowId, updateMask: ["steps_json"], stepsJson: stepsJson(text) };
  return harness.client.updateWorkflow(update, { identity });
}

function stored(workflowId: string, identity: Identity) {
  return harness.client.getWorkflow({ workflowId }, { identity });
}

/** Resolves after the repair loop has swept over everything that is due now. */
async function afterSweep(identity: Identity): Promise<void> {
  // Ids sort by time: this one comes last in a sweep.
  const { id } = await createActive(harness.client, identity);
  for (const revision of [2, 3]) {
    await harness.database.query(sql.unsafe`
      update workflows.workflows set deploy_revision = ${revision} where id = ${id}
    `);
    await waitFor(() => harness.runs.deployed.get(id)?.revision === revision, { what: "a sweep" });
  }
}

describe("a definition that the execution plane refuses", () => {
  it("is not activated: the caller is told why at once, and nothing is changed", async () => {
    const identity = newIdentity();
    const id = await create(identity, NEW);
    refuseWhenAsked();
    const error = await errorOf(harness.client.activateWorkflow({ workflowId: id }, { identity }));
    expect(error).toMatchObject(refusal);
    expect(await stored(id, identity)).toMatchObject({ status: WorkflowStatus.DRAFT, version: 1 });
    expect(harness.runs.requestsFor(id)).toEqual([]);

    harness.runs.refuses = () => false;
    const active = await harness.client.activateWorkflow({ workflowId: id }, { identity });
    expect(active.status).toBe(WorkflowStatus.ACTIVE);
  });

  it.each([
    ["an update", (id: string, identity: Identity) => putSteps(id, NEW, identity)],
    [
      "a save of the canvas with steps",
      (id: string, identity: Identity) => {
        const save = { workflowId: id, canvasStateJson: EMPTY_CANVAS, stepsJson: stepsJson(NEW) };
        return harness.client.saveCanvas(save, { identity });
      },
    ],
    [
      "a rollback",
      (id: string, identity: Identity) =>
        harness.client.rollbackWorkflow({ workflowId: id, version: 1 }, { identity }),
    ],
  ])("does not become a version of an active workflow by %s", async (what, change) => {
    const identity = newIdentity();
    // For the rollback, version 1 was fine when it was made.
    const { id } = await createActive(harness.client, identity, {
      stepsJson: stepsJson(what === "a rollback" ? NEW : "old"),
    });
    await putSteps(id, "fine", identity);
    const { version } = await stored(id, identity);
    // What was found out lately is not asked for again; another process has no such memory.
    await harness.stopService();
    await harness.startService();
    refuseWhenAsked();
    expect(await errorOf(change(id, identity))).toMatchObject(refusal);
    expect(await stored(id, identity)).toMatchObject({
      status: WorkflowStatus.ACTIVE,
      version,
      stepsJson: stepsJson("fine"),
    });
    expect(harness.runs.deployed.get(id)).toMatchObject({
      status: DeploymentStatus.ACTIVE,
      content: { version, stepsJson: stepsJson("fine") },
    });
  });

  it("may be stored as a draft: nobody is asked about what is not executed", async () => {
    const identity = newIdentity();
    refuseWhenAsked();
    const { asked } = harness.runs;
    const id = await create(identity, "draft");
    await putSteps(id, NEW, identity);
    expect(harness.runs.asked).toBe(asked);
  });

  it("is found out by the hand-over when the execution plane could not be asked", async () => {
    const identity = newIdentity();
    const id = await create(identity, NEW);
    harness.runs.failure = new AppError("UNAVAILABLE", "away");
    const away = errorOf(
      harness.client.activateWorkflow({ workflowId: id }, { identity, timeoutMs: 2_500 }),
    );
    expect(await away).toMatchObject({ reason: "UNAVAILABLE" });
    expect((await stored(id, identity)).status).toBe(WorkflowStatus.ACTIVE);
    refuseOnlyWhenHandedOver();
    harness.runs.failure = null;
    await waitFor(async () => (await stored(id, identity)).status === WorkflowStatus.DRAFT, {
      what: "the activation to be taken back",
    });
  });
});

describe("a hand-over that is refused though the question was not", () => {
  it.each([
    ["a draft", WorkflowStatus.DRAFT],
    ["a paused workflow", WorkflowStatus.PAUSED],
  ])("takes the activation of %s back, for good", async (_, before) => {
    const identity = newIdentity();
    const id = await create(identity, NEW);
    const key = { workflowId: id };
    if (before === WorkflowStatus.PAUSED) {
      await harness.client.activateWorkflow(key, { identity });
      await harness.client.pauseWorkflow(key, { identity });
    }
    refuseOnlyWhenHandedOver();
    const known = harness.runs.deployed.get(id)?.revision ?? 0;
    expect(await errorOf(harness.client.activateWorkflow(key, { identity }))).toMatchObject(
      refusal,
    );
    expect((await stored(id, identity)).status).toBe(before);
    // Another replica of the execution plane may have taken it: so it is withdrawn there.
    await waitFor(() => harness.runs.deployed.get(id)?.revision === known + 2, { what: "paused" });
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.PAUSED);
    await afterSweep(identity);
    const pushes = harness.runs.requestsFor(id).filter(({ revision }) => revision === known + 1);
    // The repair loop may have come across it in the moment before it was noted.
    expect(pushes.length).toBeLessThanOrEqual(2);

    harness.runs.refuses = () => false;
    const active = await harness.client.activateWorkflow(key, { identity });
    expect(active.status).toBe(WorkflowStatus.ACTIVE);
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ACTIVE);
  });

  it("lets the former version go on, is told at once and not repeated without end", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    refuseOnlyWhenHandedOver();
    expect(await errorOf(putSteps(id, NEW, identity))).toMatchObject(refusal);
    expect(harness.runs.deployed.get(id)).toMatchObject({ revision: 1, content: { version: 1 } });
    await afterSweep(identity);
    const pushes = harness.runs.requestsFor(id).length;
    await afterSweep(identity);
    expect(harness.runs.requestsFor(id)).toHaveLength(pushes);

    const mended = await putSteps(id, "mended", identity);
    expect(harness.runs.deployed.get(id)?.content).toMatchObject({
      version: mended.version,
      stepsJson: stepsJson("mended"),
    });
  });
});

describe("an update during an activation", () => {
  it("that comes before it is asked about as well: what is activated is what was asked about", async () => {
    const identity = newIdentity();
    const id = await create(identity, "fine");
    refuseWhenAsked();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { asked } = harness.runs;
    harness.runs.askGate = () => released;
    const activation = errorOf(harness.client.activateWorkflow({ workflowId: id }, { identity }));
    await waitFor(() => harness.runs.asked > asked, { what: "the question" });
    await putSteps(id, NEW, identity);
    release();
    expect(await activation).toMatchObject(refusal);
    expect(await stored(id, identity)).toMatchObject({
      status: WorkflowStatus.DRAFT,
      stepsJson: stepsJson(NEW),
    });
    expect(harness.runs.requestsFor(id)).toEqual([]);
  });

  it("that comes after it is refused by itself and does not disturb it", async () => {
    const identity = newIdentity();
    const id = await create(identity, "fine");
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    refuseWhenAsked();
    harness.runs.gate = () => released;
    const activation = harness.client.activateWorkflow({ workflowId: id }, { identity });
    await waitFor(() => harness.runs.requestsFor(id).length > 0, { what: "the hand-over" });
    expect(await errorOf(putSteps(id, NEW, identity))).toMatchObject(refusal);
    release();
    expect((await activation).status).toBe(WorkflowStatus.ACTIVE);
    expect(harness.runs.deployed.get(id)).toMatchObject({
      status: DeploymentStatus.ACTIVE,
      content: { version: 1, stepsJson: stepsJson("fine") },
    });
  });

  it("that only its hand-over finds refused takes both back, and both callers hear of it", async () => {
    const identity = newIdentity();
    const id = await create(identity, "fine");
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    refuseOnlyWhenHandedOver();
    harness.runs.gate = () =>
      harness.runs.requestsFor(id).at(-1)?.revision === 1 ? released : Promise.resolve();
    const activation = errorOf(harness.client.activateWorkflow({ workflowId: id }, { identity }));
    await waitFor(() => harness.runs.requestsFor(id).length > 0, { what: "the hand-over" });
    expect(await errorOf(putSteps(id, NEW, identity))).toMatchObject(refusal);
    release();
    expect(await activation).toMatchObject({ reason: "VALIDATION_ERROR" });
    expect((await stored(id, identity)).status).toBe(WorkflowStatus.DRAFT);
    await waitFor(() => harness.runs.deployed.get(id)?.revision === 3, { what: "the withdrawal" });
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.PAUSED);
  });
});
