import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { verifyAudit } from "@workflow/service-gateway/admin";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import { auditOf, waitForAudit } from "../support/audit-log.ts";
import {
  createActive,
  createWorkflow,
  failing,
  runToEnd,
  startRun,
  transform,
  delay,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const WORKFLOW = { name: "Audited", trigger: { type: "api" }, steps: [] };

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** Sends a request that succeeds, and returns what it left in the log. */
async function audited(method: string, path: string, body?: unknown, headers = {}) {
  const requestId = `req-${newUuid()}`;
  const answer = await system.call(method, path, {
    body,
    headers: { "x-request-id": requestId, ...headers },
  });
  expect(answer.error).toBeUndefined();
  return { answer, events: await auditOf(system, requestId) };
}

describe("what is told of a change", () => {
  it("of a definition: which parts, never what they say", async () => {
    const steps = [
      transform("keep", { token: "tok_live_1" }),
      transform("change", { token: "tok_live_2" }),
      transform("remove", {}),
    ];
    const { id } = await createWorkflow(system, {
      name: "Before",
      trigger: { type: "webhook", path: "tok_live_path" },
      steps,
    });
    const { events } = await audited("PUT", `/workflows/${id}`, {
      name: "After",
      trigger: { type: "webhook", path: "tok_live_other_path" },
      steps: [steps[0], transform("change", { token: "tok_live_3" }), transform("add", {})],
      inputSchema: { type: "object", default: { a: "tok_live_4" } },
      settings: { tags: ["tok_live_5"] },
    });
    expect(events).toMatchObject([{ action: "workflow.updated", resourceType: "workflow" }]);
    expect(events[0]?.changes).toEqual({
      name: { from: "Before", to: "After" },
      trigger: { changed: true },
      inputSchema: { changed: true },
      settings: { changed: true },
      steps: { added: ["add"], removed: ["remove"], modified: ["change"] },
    });
  });

  it("of an update that says nothing: the version that it makes of an active workflow, else nothing", async () => {
    const active = await createActive(system);
    expect((await audited("PUT", `/workflows/${active}`, {})).events).toMatchObject([
      { action: "workflow.updated", changes: { version: { from: 1, to: 2 } } },
    ]);
    const { id } = await createWorkflow(system);
    expect((await audited("PUT", `/workflows/${id}`, {})).events).toEqual([]);
  });

  it("of a workflow that is archived again: nothing, as nothing changes", async () => {
    const id = await createActive(system);
    const first = await audited("DELETE", `/workflows/${id}`);
    expect(first.events).toMatchObject([
      { action: "workflow.archived", changes: { status: { from: "active", to: "archived" } } },
    ]);
    const second = await audited("DELETE", `/workflows/${id}`);
    expect(second.events).toEqual([]);
  });

  it("of a secret: its key and place, never its value", async () => {
    const workflowId = await createActive(system);
    const path = `/workflows/${workflowId}/secrets`;
    const value = `hush-${newUuid()}`;
    const made = await audited("POST", path, { key: "TOKEN", value });
    const replaced = await audited("PUT", `${path}/TOKEN`, { value: `${value}-2` });
    const deleted = await audited("DELETE", `${path}/TOKEN`);
    const [created] = made.events;
    expect(created).toMatchObject({
      action: "secret.created",
      changes: { workflowId: { from: null, to: workflowId }, key: { from: null, to: "TOKEN" } },
    });
    expect(replaced.events).toMatchObject([
      {
        action: "secret.replaced",
        resourceId: created?.resourceId,
        changes: { key: { from: "TOKEN", to: "TOKEN" }, value: { changed: true } },
      },
    ]);
    expect(deleted.events).toMatchObject([
      {
        action: "secret.deleted",
        resourceId: created?.resourceId,
        changes: { key: { from: "TOKEN", to: null } },
      },
    ]);
    const { text } = await system.call("GET", "/audit-logs?limit=100");
    expect(text).not.toContain(value.slice(0, 12));
  });

  it("of a run that is retried: the run that this started", async () => {
    const workflowId = await createActive(system, { steps: [failing("call")] });
    const { id } = await runToEnd(system, workflowId);
    const { answer, events } = await audited("POST", `/runs/${id}/retry`);
    const [event] = events;
    expect(event).toMatchObject({ action: "run.retried", resourceType: "run", resourceId: id });
    expect(answer.text).toContain(JSON.stringify(event?.changes["newRunId"]).split('"')[5] ?? "?");
  });

  it("of a run that is cancelled: one event, also when others are cancelled with it", async () => {
    const child = await createActive(system, { steps: [delay("sleep", 600_000)] });
    const step = { id: "call", type: "workflow", name: "call", config: { workflowId: child } };
    const parent = await startRun(system, await createActive(system, { steps: [step] }));
    const { events } = await audited("POST", `/runs/${parent}/cancel`);
    expect(events).toMatchObject([
      { action: "run.cancelled", resourceId: parent, changes: { status: { to: "cancelled" } } },
    ]);
  });
});

describe("who is told to have made a change", () => {
  it("is the key, by its name, from the address and with the program that called", async () => {
    const { events } = await audited("POST", "/workflows", WORKFLOW, {
      "user-agent": `bad\u00e9 ${"x".repeat(2_000)}`,
      "x-forwarded-for": "198.51.100.7",
    });
    const [event] = events;
    expect(event).toMatchObject({ actor: { type: "api_key", name: "Default" } });
    // Nobody said that there is a proxy: its header is what anybody may have written.
    expect(event?.ipAddress).toBe("127.0.0.1");
    expect(event?.userAgent).toMatch(/^bad\? x{500,}$/);
    expect(event?.userAgent?.length).toBe(512);
  });

  it("is the holder of a token who calls a service directly, whatever its metadata says", async () => {
    const principal = { type: "token", id: newUuid(), name: "reporting" } as const;
    const identity = { companyId: system.acme.id, principal, scopes: ["workflows:write"] };
    const client = createRpcClient(WorkflowsServiceService, {
      address: system.grpcAddresses.workflows,
    });
    const requestId = `grpc-${newUuid()}`;
    await client.createWorkflow(
      { name: "Direct", triggerJson: '{"type":"api"}', stepsJson: "[]" },
      {
        token: await system.tokens
          .signerOf("admin")
          .sign(identity, { audience: "workflows", ttlSeconds: 60 }),
        requestId,
        client: { ipAddress: "198.51.100.7", userAgent: "made up" },
      },
    );
    client.close();
    const [event] = await auditOf(system, requestId);
    expect(event).toMatchObject({ actor: principal, ipAddress: "127.0.0.1" });
    expect(event?.userAgent).toMatch(/^grpc-node/);
  });

  it("is of the company in the token, and nobody else sees it", async () => {
    const requestId = `other-${newUuid()}`;
    const headers = { "x-request-id": requestId };
    await system.call("POST", "/workflows", {
      key: system.globex.key,
      headers,
      body: WORKFLOW,
    });
    expect(await auditOf(system, requestId)).toEqual([]);
    expect(await auditOf(system, requestId, system.globex.key)).toHaveLength(1);
  });
});

describe("a change and its record", () => {
  it("are both made or neither, when many change the same object at once", async () => {
    const id = await createActive(system);
    const path = `/workflows/${id}/secrets`;
    const body = { key: "RACE", value: "one of many" };
    const made = await Promise.all(
      Array.from({ length: 10 }, () => system.call("POST", path, { body })),
    );
    const paused = await Promise.all(
      Array.from({ length: 10 }, () => system.call("POST", `/workflows/${id}/pause`)),
    );
    expect(made.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(paused.filter(({ status }) => status === 200)).toHaveLength(1);
    await waitForAudit(system);
    const { data } = await system.call(
      "GET",
      `/audit-logs?action=workflow.paused&resourceId=${id}`,
    );
    expect(data).toHaveLength(1);
    const secrets = await system.call("GET", "/audit-logs?action=secret.created&limit=100");
    expect(secrets.text.split(id)).toHaveLength(2);
  });

  it("stand in a chain that verifies", async () => {
    await createActive(system);
    await waitForAudit(system);
    const { acme } = system;
    const result = await verifyAudit(system.database, { companyId: acme.id });
    expect(result).toMatchObject({ ok: true, companies: 1 });
    expect(result.events).toBeGreaterThan(0);
  });
});
