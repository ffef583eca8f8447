import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { createActive, createWorkflow, startRun, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const refused = { status: 401, error: { code: "UNAUTHORIZED" } };

describe("the header x-api-key", () => {
  it("has the form wfk_ and 32 random characters", async () => {
    const keys = [system.acme.key, await system.createKey(system.acme, ["runs:read"])];
    for (const key of keys) expect(key).toMatch(/^wfk_[A-Za-z0-9]{32}$/);
    expect(new Set(keys).size).toBe(2);
  });

  it("is required", async () => {
    const answer = await system.call("GET", "/workflows", { key: null });
    expect(answer).toMatchObject(refused);
    expect(answer.error).not.toHaveProperty("details");
  });

  it.each([
    ["empty", () => ""],
    ["of another form", () => "secret"],
    ["unknown", () => `wfk_${"a".repeat(32)}`],
    ["too short", (key: string) => key.slice(0, -1)],
    ["too long", (key: string) => `${key}a`],
    ["in another case", (key: string) => key.toUpperCase()],
    [
      "different in the last character",
      (key: string) => key.slice(0, -1) + (key.endsWith("a") ? "b" : "a"),
    ],
    ["two keys", (key: string) => `${key}, ${key}`],
    ["with a scheme", (key: string) => `Bearer ${key}`],
  ])("is refused when it is %s", async (_what, change) => {
    const answer = await system.call("GET", "/workflows", { key: change(system.acme.key) });
    expect(answer).toMatchObject(refused);
  });

  it("is the only place for a key", async () => {
    const { key } = system.acme;
    const attempts = [
      system.call("GET", `/workflows?x-api-key=${key}&api_key=${key}`, { key: null }),
      system.call("GET", "/workflows", { key: null, headers: { authorization: `Bearer ${key}` } }),
      system.call("GET", "/workflows", { key: null, headers: { cookie: `x-api-key=${key}` } }),
    ];
    for (const answer of await Promise.all(attempts)) expect(answer).toMatchObject(refused);
  });

  it("is never repeated in an answer", async () => {
    for (const key of [system.acme.key, `wfk_${"z".repeat(32)}`]) {
      const answer = await system.call("GET", "/workflows/none", { key });
      expect(answer.text).not.toContain(key.slice(4));
    }
  });

  it("stops working when it expires", async () => {
    const expiresAt = new Date(Date.now() + 1_500);
    const key = await system.createKey(system.acme, ["workflows:read"], expiresAt);
    expect((await system.call("GET", "/workflows", { key })).status).toBe(200);
    await waitFor(async () => (await system.call("GET", "/workflows", { key })).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
  });
});

describe("the order of checks (D2)", () => {
  it("asks who it is before anything else", async () => {
    const anonymous = { key: null };
    const answers = [
      system.call("POST", "/workflows", { ...anonymous, raw: "{nonsense" }),
      system.call("POST", "/workflows", { ...anonymous, raw: " ".repeat(2 * 1024 * 1024) }),
      system.call("POST", "/workflows", {
        ...anonymous,
        raw: "x",
        headers: { "content-type": "a/b" },
      }),
      system.call("GET", "/workflows?limit=0", anonymous),
      system.call("GET", "/workflows/none", anonymous),
    ];
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(refused);
  });

  it("asks for the scope before it reads the request", async () => {
    const key = await system.createKey(system.acme, ["runs:read"]);
    const answers = [
      system.call("POST", "/workflows", { key, raw: "{nonsense" }),
      system.call("POST", "/workflows", { key, raw: " ".repeat(2 * 1024 * 1024) }),
      system.call("GET", "/workflows?limit=0", { key }),
      system.call("GET", "/workflows/none", { key }),
      system.call("POST", "/workflows/none/run", { key, body: { mode: "x" } }),
    ];
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status: 403, error: { code: "FORBIDDEN" } });
    }
  });

  it("judges the shape before it looks for the object", async () => {
    const answers = [
      system.call("PUT", "/workflows/none", { body: { name: "" } }),
      system.call("POST", "/workflows/none/run", { body: { mode: "x" } }),
      system.call("GET", "/workflows/none/runs?limit=0"),
      system.call("POST", "/runs/none/cancel", { raw: "[]" }),
    ];
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    }
  });
});

describe("a scope is enough for what it grants", () => {
  it("workflows:execute alone runs and cancels", async () => {
    const key = await system.createKey(system.acme, ["workflows:execute"]);
    const id = await createActive(system);
    const run = await system.call("POST", `/workflows/${id}/run`, { key, body: { mode: "sync" } });
    expect(run).toMatchObject({ status: 200, data: { status: "completed" } });
    const { id: draftId } = await createWorkflow(system);
    const refusal = await system.call("POST", `/workflows/${draftId}/run`, { key });
    expect(refusal).toMatchObject({ status: 400, error: { code: "WORKFLOW_NOT_ACTIVE" } });
  });

  it("runs:read alone lists and reads runs, also those of one workflow", async () => {
    const key = await system.createKey(system.acme, ["runs:read"]);
    const id = await createActive(system);
    const runId = await startRun(system, id);
    await waitForRun(system, runId);
    for (const path of [
      "/runs",
      `/runs/${runId}`,
      `/runs/${runId}/logs`,
      `/workflows/${id}/runs`,
    ]) {
      expect((await system.call("GET", path, { key })).status).toBe(200);
    }
  });

  it("workflows:write alone creates, changes, activates, pauses and deletes", async () => {
    const key = await system.createKey(system.acme, ["workflows:write"]);
    const { id } = await createWorkflow(system, {}, { key });
    const steps: [string, string][] = [
      ["PUT", ""],
      ["POST", "/activate"],
      ["PUT", ""],
      ["POST", "/pause"],
      ["DELETE", ""],
    ];
    for (const [method, suffix] of steps) {
      const body = method === "PUT" ? { description: "x" } : undefined;
      const answer = await system.call(method, `/workflows/${id}${suffix}`, { key, body });
      expect(answer.status).toBe(200);
    }
  });
});
