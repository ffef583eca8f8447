import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { waitFor } from "@workflow/testkit";
import {
  createActive,
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
  harness.runs.gate = async () => {};
});
afterAll(() => harness.close());

const away = new AppError("UNAVAILABLE", "away");

describe("handing over to the execution plane", () => {
  it("sends status, revision and content of each change in order, before the answer", async () => {
    const identity = newIdentity();
    const request = validWorkflow({
      name: "Handed",
      inputSchemaJson: '{"type":"object"}',
      outputSchemaJson: "{}",
      settingsJson: '{"timeoutMs":1000}',
    });
    const { id } = await harness.client.createWorkflow(request, { identity });
    const key = { workflowId: id };
    const known = () => harness.runs.deployed.get(id);

    await harness.client.activateWorkflow(key, { identity });
    const { description: _, ...content } = request;
    expect(known()).toEqual({
      workflowId: id,
      revision: 1,
      status: DeploymentStatus.ACTIVE,
      content: { ...content, version: 1 },
    });
    await harness.client.pauseWorkflow(key, { identity });
    expect(known()).toMatchObject({
      revision: 2,
      status: DeploymentStatus.PAUSED,
      content: undefined,
    });
    await harness.client.activateWorkflow(key, { identity });
    expect(known()).toMatchObject({
      revision: 3,
      status: DeploymentStatus.ACTIVE,
      content: { version: 1 },
    });
    await harness.client.updateWorkflow(
      { workflowId: id, updateMask: ["steps_json"], stepsJson: stepsJson("bye") },
      { identity },
    );
    expect(known()).toMatchObject({
      revision: 4,
      content: { version: 2, stepsJson: stepsJson("bye") },
    });
    await harness.client.archiveWorkflow(key, { identity });
    expect(known()).toMatchObject({
      revision: 5,
      status: DeploymentStatus.ARCHIVED,
      content: undefined,
    });
    // The repair loop may have found one of the changes and pushed it as well.
    const revisions = harness.runs.requestsFor(id).map(({ revision }) => revision);
    expect([...new Set(revisions)]).toEqual([1, 2, 3, 4, 5]);
  });

  it("acts as the workflows service for the workflow's company, under the caller's request id", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    await harness.client.activateWorkflow({ workflowId: id }, { identity, requestId: "req-77" });
    const put = harness.runs.received.find(({ requestId }) => requestId === "req-77");
    expect(put).toMatchObject({
      request: { workflowId: id },
      identity: {
        companyId: identity.companyId,
        principal: { type: "service", id: "workflows" },
        scopes: ["internal:deployments"],
      },
    });
  });

  it("names a workflow in one way, however the caller writes its id", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const answer = await harness.client.activateWorkflow(
      { workflowId: id.toUpperCase() },
      { identity },
    );
    expect(answer.id).toBe(id);
    expect(harness.runs.deployed.has(id)).toBe(true);
  });

  it("withdraws a paused workflow for good when it is archived", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    await harness.client.pauseWorkflow({ workflowId: id }, { identity });
    await harness.client.archiveWorkflow({ workflowId: id }, { identity });
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ARCHIVED);
  });

  it("is tried again within the request while the execution plane is away for a moment", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    harness.runs.failure = away;
    const activation = harness.client.activateWorkflow({ workflowId: id }, { identity });
    await waitFor(() => harness.runs.requestsFor(id).length >= 2, { what: "a second attempt" });
    harness.runs.failure = null;
    expect((await activation).status).toBe(WorkflowStatus.ACTIVE);
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ACTIVE);
  });

  it("also gets over refused connections", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    await harness.runs.stop();
    const activation = harness.client.activateWorkflow({ workflowId: id }, { identity });
    await waitFor(() =>
      harness.database.maybeOne(sql.unsafe`
        select id from workflows.workflows where id = ${id} and status = 'active'
      `),
    );
    await harness.runs.start();
    expect((await activation).status).toBe(WorkflowStatus.ACTIVE);
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ACTIVE);
  });
});

describe("a hand-over that is slow", () => {
  it("is waited for as long as the caller waits, with one more push beside the first", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    harness.runs.gate = () => released;
    const pushesOf = (isCaller: boolean) =>
      harness.runs.received.filter(
        ({ request, requestId }) =>
          request.workflowId === id && (requestId === "patient") === isCaller,
      );
    const activation = harness.client.activateWorkflow(
      { workflowId: id },
      { identity, requestId: "patient" },
    );
    // The repair loop gives up a push after five seconds; its second push shows that they have passed.
    await waitFor(() => pushesOf(false).length >= 2, { what: "two pushes of the repair loop" });
    release();
    expect((await activation).status).toBe(WorkflowStatus.ACTIVE);
    expect(pushesOf(true)).toHaveLength(2);
  });

  it.each([
    ["the repair loop's push", (requestId: string) => requestId !== "stuck"],
    [
      "its own second push",
      (requestId: string) =>
        requestId === "stuck" &&
        harness.runs.received.filter((each) => each.requestId === "stuck").length === 2,
    ],
  ])("is over as soon as %s has reached another replica", async (_, isOther) => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    harness.runs.received.length = 0;
    // All other pushes meet a replica that stands still.
    harness.runs.gate = () =>
      isOther(harness.runs.received.at(-1)?.requestId ?? "") ? Promise.resolve() : released;
    const activation = harness.client.activateWorkflow(
      { workflowId: id },
      { identity, requestId: "stuck" },
    );
    expect((await activation).status).toBe(WorkflowStatus.ACTIVE);
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ACTIVE);
    release();
  });
});

describe("a push that arrives late", () => {
  it("does not bring back the older state, and is not noted as the newest one", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    // The first push hangs in the execution plane before it takes effect.
    harness.runs.gate = () =>
      harness.runs.requestsFor(id).at(-1)?.revision === 1 ? released : Promise.resolve();
    const activation = harness.client.activateWorkflow({ workflowId: id }, { identity });
    await waitFor(() => harness.runs.requestsFor(id).length > 0, { what: "the first push" });
    await harness.client.pauseWorkflow({ workflowId: id }, { identity });
    release();
    await activation;

    expect(harness.runs.deployed.get(id)).toMatchObject({
      revision: 2,
      status: DeploymentStatus.PAUSED,
    });
    const revisions = await harness.database.one(sql.unsafe`
      select deploy_revision as due, deployed_revision as done
      from workflows.workflows where id = ${id}
    `);
    expect(revisions).toEqual({ due: 2, done: 2 });
  });
});
