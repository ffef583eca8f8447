import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import type { Identity, RpcCallOptions } from "@workflow/rpc";
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

const EMPTY_CANVAS = '{"blocks":{},"edges":[],"loops":{},"parallels":{}}';

/** Every RPC that names a workflow, with the scope that it needs. */
const named = [
  {
    rpc: "GetWorkflow",
    scope: "workflows:read",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.getWorkflow({ workflowId }, options),
  },
  {
    rpc: "UpdateWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.updateWorkflow({ workflowId, updateMask: ["name"], name: "Taken" }, options),
  },
  {
    rpc: "UpdateWorkflow with an empty mask",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.updateWorkflow({ workflowId, updateMask: [] }, options),
  },
  {
    rpc: "ActivateWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.activateWorkflow({ workflowId }, options),
  },
  {
    rpc: "PauseWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.pauseWorkflow({ workflowId }, options),
  },
  {
    rpc: "ArchiveWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.archiveWorkflow({ workflowId }, options),
  },
  {
    rpc: "SaveCanvas",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.saveCanvas({ workflowId, canvasStateJson: EMPTY_CANVAS }, options),
  },
  {
    rpc: "SaveCanvas with steps",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.saveCanvas(
        { workflowId, canvasStateJson: EMPTY_CANVAS, stepsJson: "[]" },
        options,
      ),
  },
  {
    rpc: "CloneWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.cloneWorkflow({ workflowId, name: "Taken" }, options),
  },
  {
    rpc: "ListVersions",
    scope: "workflows:read",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.listVersions({ workflowId, limit: 0, cursor: "" }, options),
  },
  {
    rpc: "GetVersion",
    scope: "workflows:read",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.getVersion({ workflowId, version: 1 }, options),
  },
  {
    rpc: "CompareVersions",
    scope: "workflows:read",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.compareVersions({ workflowId, fromVersion: 1, toVersion: 1 }, options),
  },
  {
    rpc: "RollbackWorkflow",
    scope: "workflows:write",
    call: (workflowId: string, options: RpcCallOptions) =>
      harness.client.rollbackWorkflow({ workflowId, version: 1 }, options),
  },
] as const;

const all = [
  ...named,
  {
    rpc: "CreateWorkflow",
    scope: "workflows:write",
    call: (_: string, options: RpcCallOptions) =>
      harness.client.createWorkflow(validWorkflow(), options),
  },
  {
    rpc: "ListWorkflows",
    scope: "workflows:read",
    call: (_: string, options: RpcCallOptions) =>
      harness.client.listWorkflows({ status: 0, search: "", page: undefined }, options),
  },
  {
    rpc: "ImportWorkflow",
    scope: "workflows:write",
    call: (_: string, options: RpcCallOptions) =>
      harness.client.importWorkflow({ content: validWorkflow() }, options),
  },
] as const;

const wrongIds = ["", "x", "wf_123", "00000000-0000-0000-0000-00000000000g", "a\0b", "'; --"];

describe.each(named)("$rpc", ({ call }) => {
  it("answers NOT_FOUND for another company's workflow, and leaves it as it is", async () => {
    const owner = newIdentity();
    const workflow = await createActive(harness.client, owner);

    const error = await errorOf(call(workflow.id, { identity: newIdentity() }));
    expect({ reason: error.reason, message: error.message }).toEqual({
      reason: "NOT_FOUND",
      message: "Workflow not found",
    });
    const after = await harness.client.getWorkflow(
      { workflowId: workflow.id },
      { identity: owner },
    );
    expect(after).toEqual(workflow);
    expect(harness.runs.revisionsFor(workflow.id)).toEqual([1]);
  });

  it("answers the same for an unknown id and for ids of the wrong form (D1)", async () => {
    const identity = newIdentity();
    for (const workflowId of [newUuid(), ...wrongIds]) {
      const error = await errorOf(call(workflowId, { identity }));
      expect([workflowId, error.reason, error.message]).toEqual([
        workflowId,
        "NOT_FOUND",
        "Workflow not found",
      ]);
    }
  });
});

describe.each(all)("$rpc", ({ scope, call }) => {
  it("is UNAUTHORIZED without a token and with one that is not ours", async () => {
    expect((await errorOf(call(newUuid(), {}))).reason).toBe("UNAUTHORIZED");
    expect((await errorOf(call(newUuid(), { token: "abc.def.ghi" }))).reason).toBe("UNAUTHORIZED");
  });

  it("is FORBIDDEN with every other scope, naming the one that it needs", async () => {
    const others = ["workflows:read", "workflows:write", "workflows:execute", "runs:read"];
    const identity: Identity = newIdentity(others.filter((other) => other !== scope));
    const error = await errorOf(call(newUuid(), { identity }));
    expect(error.reason).toBe("FORBIDDEN");
    expect(error.message).toContain(scope);
  });
});

describe("lists", () => {
  it("show a company nothing of another one", async () => {
    const owner = newIdentity();
    await createActive(harness.client, owner);
    const { workflows } = await harness.client.listWorkflows(
      { status: 0, search: "", page: undefined },
      { identity: newIdentity() },
    );
    expect(workflows).toEqual([]);
  });
});
