import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { waitFor } from "@workflow/testkit";
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
afterEach(() => {
  harness.runs.failure = null;
  harness.runs.gate = async () => {};
});
afterAll(() => harness.close());

const away = new AppError("UNAVAILABLE", "away");

/** A deadline before the service's own; even a busy machine commits within it. */
const impatient = { timeoutMs: 2_500 };

async function deployedStatus(workflowId: string, status: DeploymentStatus): Promise<void> {
  await waitFor(() => harness.runs.deployed.get(workflowId)?.status === status, {
    what: `deployment status ${status}`,
  });
}

describe("a hand-over that does not succeed in time", () => {
  it("is answered UNAVAILABLE with a time to retry; the change stays and takes effect by itself", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    harness.runs.failure = away;
    // A caller with a deadline might give up before the answer is there.
    const error = await errorOf(harness.client.activateWorkflow({ workflowId: id }, { identity }));
    expect(error.reason).toBe("UNAVAILABLE");
    expect(error.message).toContain("recorded");
    expect(error.retryAfterMs).toBeGreaterThan(0);
    const stored = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(stored.status).toBe(WorkflowStatus.ACTIVE);

    harness.runs.failure = null;
    await deployedStatus(id, DeploymentStatus.ACTIVE);
  });

  it("takes effect by itself also when the caller has hung up meanwhile", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    harness.runs.failure = away;
    const caller = new AbortController();
    const activation = harness.client.activateWorkflow(
      { workflowId: id },
      { identity, signal: caller.signal },
    );
    const outcome = errorOf(activation);
    await waitFor(() => harness.runs.requestsFor(id).length > 0, { what: "the first push" });
    caller.abort();
    await outcome;
    harness.runs.failure = null;
    await deployedStatus(id, DeploymentStatus.ACTIVE);
  });

  it("is not put off by changes that the execution plane need not know", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    harness.runs.failure = away;
    await errorOf(harness.client.pauseWorkflow({ workflowId: id }, { identity, ...impatient }));
    harness.runs.failure = null;
    // An update of a paused workflow is not handed over.
    const rename = { workflowId: id, updateMask: ["name"], name: "Renamed" };
    await waitFor(
      async () => {
        await harness.client.updateWorkflow(rename, { identity });
        return harness.runs.deployed.get(id)?.status === DeploymentStatus.PAUSED;
      },
      { what: "the hand-over of a workflow that is being edited" },
    );
  });

  it("of several changes ends with the newest of them", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    harness.runs.failure = away;
    const options = { identity, ...impatient };
    const rename = { workflowId: id, updateMask: ["name"], name: "Renamed" };
    await errorOf(harness.client.updateWorkflow(rename, options));
    await errorOf(harness.client.pauseWorkflow({ workflowId: id }, options));
    await errorOf(harness.client.activateWorkflow({ workflowId: id }, options));
    harness.runs.failure = null;
    await waitFor(() => harness.runs.deployed.get(id)?.revision === 4, { what: "revision 4" });
    expect(harness.runs.deployed.get(id)).toMatchObject({
      status: DeploymentStatus.ACTIVE,
      content: { name: "Renamed", version: 2 },
    });
  });

  it("is waited for again when an archive is repeated", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    harness.runs.failure = away;
    const key = { workflowId: id };
    await errorOf(harness.client.archiveWorkflow(key, { identity, ...impatient }));
    await errorOf(harness.client.archiveWorkflow(key, { identity, ...impatient }));
    harness.runs.failure = null;
    await harness.client.archiveWorkflow(key, { identity });
    expect(harness.runs.deployed.get(id)?.status).toBe(DeploymentStatus.ARCHIVED);
  });

  it("does not keep others back when the execution plane refuses many of them", async () => {
    const identity = newIdentity();
    const stuck = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      stuck.add((await createActive(harness.client, identity)).id);
    }
    // Ids sort by time, so this workflow comes last in the order of ids.
    const fine = await createActive(harness.client, identity);
    harness.runs.gate = async () => {
      if (stuck.has(harness.runs.received.at(-1)?.request.workflowId ?? "")) {
        throw new AppError("BAD_REQUEST", "refused");
      }
    };
    await harness.database.query(sql.unsafe`
      update workflows.workflows
      set deploy_revision = deploy_revision + 1, updated_at = now() - interval '1 minute'
      where id = any(${sql.array([...stuck, fine.id], "uuid")})
    `);
    await waitFor(() => harness.runs.deployed.get(fine.id)?.revision === 2, {
      what: "the fine one",
    });
    await waitFor(
      async () => {
        const refused = await harness.database.any(sql.unsafe`
          select id from workflows.workflows
          where id = any(${sql.array([...stuck], "uuid")}) and refused_at is not null
        `);
        return refused.length === stuck.size;
      },
      { what: "all refusals" },
    );
    for (const id of stuck) expect(harness.runs.deployed.get(id)?.revision).toBe(1);
    harness.runs.gate = async () => {};
    // A newer version of the execution plane may take an update that this one refused an hour ago.
    await harness.database.query(sql.unsafe`
      update workflows.workflows set refused_at = now() - interval '61 minutes'
      where id = any(${sql.array([...stuck], "uuid")})
    `);
    await waitFor(() => [...stuck].every((id) => harness.runs.deployed.get(id)?.revision === 2), {
      what: "the stuck ones",
    });
  });

  it("is made up for after the process ended between commit and push", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    harness.runs.failure = away;
    await errorOf(harness.client.activateWorkflow({ workflowId: id }, { identity, ...impatient }));
    await harness.stopService();
    harness.runs.failure = null;
    expect(harness.runs.deployed.has(id)).toBe(false);
    await harness.startService();
    await deployedStatus(id, DeploymentStatus.ACTIVE);
    await waitFor(() =>
      harness.database.maybeOne(sql.unsafe`
        select id from workflows.workflows where id = ${id} and deployed_revision = deploy_revision
      `),
    );
  });
});
