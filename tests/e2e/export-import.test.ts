import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { makeAgent } from "../support/agents.ts";
import { canvasState } from "../support/canvas.ts";
import { createActive, createWorkflow, transform, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const document = z.strictObject({
  formatVersion: z.literal(1),
  name: z.string(),
  description: z.string().nullable(),
  trigger: z.unknown(),
  steps: z.unknown(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown(),
  settings: z.unknown(),
  canvasState: z.unknown(),
});
const imported = z.looseObject({ id: z.string() });

async function exportOf(id: string, key = system.acme.key) {
  const answer = await system.call("GET", `/workflows/${id}/export`, { key });
  expect(answer.status).toBe(200);
  return { ...document.parse(answer.data), text: JSON.stringify(answer.data) };
}

const importAs = (body: unknown, key = system.acme.key) =>
  system.call("POST", "/workflows/import", { body, key });

const FULL = {
  name: "Portable",
  description: "Goes anywhere",
  trigger: { type: "schedule", cron: "0 8 * * 1", timezone: "Europe/Berlin" },
  steps: [
    {
      id: "call",
      type: "action",
      name: "call",
      action: "http.request",
      config: {
        method: "GET",
        url: "https://api.example.com/{{secrets.PATH_KEY}}",
        headers: { authorization: "Bearer {{ secrets.API_TOKEN }} {{secrets.PATH_KEY}}" },
      },
    },
    { id: "each", type: "loop", name: "each", config: { count: 1, steps: [nested()] } },
  ],
  inputSchema: { type: "object" },
  outputSchema: { type: "string" },
  settings: { timeoutMs: 60_000 },
};

function nested() {
  return transform("in", "{{secrets.NESTED}}");
}

describe("GET /workflows/{id}/export, POST /workflows/import", () => {
  it("bring a workflow to another company, where its export is the same", async () => {
    const id = await createActive(system, FULL);
    await system.call("PATCH", `/workflows/${id}/canvas`, { body: { canvasState: canvasState() } });
    const secret = { key: "API_TOKEN", value: "very-secret-value" };
    await system.call("POST", `/workflows/${id}/secrets`, { body: secret });
    const { text, ...exported } = await exportOf(id);
    expect(exported).toEqual({ formatVersion: 1, ...FULL, canvasState: canvasState() });
    expect(text).not.toContain("very-secret");
    expect(text).not.toContain(id);
    expect(text).not.toContain(system.acme.id);

    const answer = await importAs(exported, system.globex.key);
    expect(answer).toMatchObject({
      status: 201,
      data: {
        ...FULL,
        status: "draft",
        version: 1,
        requires: { secrets: ["PATH_KEY", "API_TOKEN", "NESTED"], connections: [], agents: [] },
      },
    });
    const { id: copy } = imported.parse(answer.data);
    expect((await exportOf(copy, system.globex.key)).text).toBe(text);
    expect(answer.data).not.toHaveProperty("clonedFrom");
  });

  it("keep numbers as JavaScript reads them and the order of keys (D5)", async () => {
    const raw =
      '{"formatVersion":1,"name":"Raw","trigger":{"type":"api"},"steps":[{"id":"a","type":"transform",' +
      '"name":"a","config":{"mapping":{"z":1.0,"a":12345678901234567890,"__proto__":{"x":1e40}}}}]}';
    const answer = await system.call("POST", "/workflows/import", { raw });
    expect(answer.status).toBe(201);
    const { id } = imported.parse(answer.data);
    const { text } = await system.call("GET", `/workflows/${id}/export`);
    expect(text).toContain('{"z":1,"a":12345678901234567000,"__proto__":{"x":1e+40}}');
  });

  it("tell the agents that steps ask, which another company does not have", async () => {
    const agentId = await makeAgent(system, system.acme.key);
    const ask = (id: string, asked: string) => ({
      id,
      type: "agent",
      name: id,
      config: { agentId: asked, input: {} },
    });
    const steps = [ask("own", agentId), ask("core", "agent_content"), ask("again", agentId)];
    const answer = await importAs(
      { formatVersion: 1, ...workflowBody({ steps }) },
      system.globex.key,
    );
    const requires = { agents: [agentId, "agent_content"] };
    expect(answer).toMatchObject({ status: 201, data: { requires } });
    const path = `/workflows/${imported.parse(answer.data).id}/plan`;
    const planned = await system.call("POST", path, { key: system.globex.key });
    expect(planned.data).toMatchObject({ missing: { agents: [agentId] } });
  });

  it("tell the connections that are needed: by provider where it is named, else by id", async () => {
    const request = (id: string, connectionId: string) => ({
      id,
      type: "action",
      name: id,
      action: "http.request",
      config: {
        method: "GET",
        url: "https://x.example",
        auth: { type: "connection" },
        connectionId,
      },
    });
    const email = {
      id: "mail",
      type: "email",
      name: "mail",
      config: { to: "a@b.example", subject: "s", text: "t", connectionId: "conn_b" },
    };
    const body = workflowBody({
      trigger: { type: "webhook", provider: "stripe", path: "paid" },
      steps: [
        request("one", "conn_c"),
        { id: "each", type: "loop", name: "each", config: { count: 1, steps: [email] } },
        request("again", "conn_c"),
        request("later", "{{input.connection}}"),
      ],
    });
    const answer = await importAs({ formatVersion: 1, ...body });
    const connections = ["conn_b", "conn_c", "stripe"];
    expect(answer).toMatchObject({ status: 201, data: { requires: { connections } } });
    const path = `/workflows/${imported.parse(answer.data).id}/plan`;
    expect(await system.call("POST", path)).toMatchObject({
      status: 200,
      data: {
        valid: true,
        missing: { connections: ["stripe"], connectionIds: ["conn_b", "conn_c"], choices: [] },
      },
    });
    const input = { connection: "conn_a" };
    expect(await system.call("POST", path, { body: { input } })).toMatchObject({
      data: { missing: { connectionIds: ["conn_a", "conn_b", "conn_c"] } },
    });
  });

  it("refuse what create refuses, with every problem and its path", async () => {
    const steps = [
      { ...transform("a", "{{steps.gone.output}}") },
      { id: "b", type: "no-such", name: "b", config: {} },
    ];
    const { status, error } = await importAs({ formatVersion: 1, ...workflowBody({ steps }) });
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: expect.arrayContaining([
        { path: ["steps", "0", "config", "mapping"], message: expect.any(String) },
        { path: ["steps", "1", "type"], message: expect.any(String) },
      ]),
    });
  });

  it.each([
    ["no version of the format", { formatVersion: undefined }, ["formatVersion"]],
    ["a version of the future", { formatVersion: 2 }, ["formatVersion"]],
    ["no name", { name: undefined }, ["name"]],
    ["no steps", { steps: undefined }, ["steps"]],
    ["no trigger", { trigger: undefined }, ["trigger"]],
    ["a canvas that is none", { canvasState: { blocks: [] } }, ["canvasState", "blocks"]],
  ])("refuse a document with %s", async (_what, changes, path) => {
    const { status, error } = await importAs({ formatVersion: 1, ...workflowBody(), ...changes });
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: "BAD_REQUEST" });
    expect(z.array(z.object({ path: z.array(z.string()) })).parse(error?.details)).toContainEqual({
      path,
    });
  });

  it("export an unfinished draft, which is refused where it is imported", async () => {
    const { id } = await createWorkflow(system);
    const steps = [{ id: "loop", type: "loop", name: "loop", config: { count: 1, steps: [] } }];
    const body = { canvasState: canvasState(), steps };
    await system.call("PATCH", `/workflows/${id}/canvas`, { body });
    const { text: _text, ...exported } = await exportOf(id);
    expect(await importAs(exported)).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR" },
    });
  });

  it("takes definition and canvas of nearly 1 MiB each", async () => {
    const filler = "x".repeat(1_000_000);
    const state = { ...canvasState([]), note: filler };
    const answer = await importAs({
      formatVersion: 1,
      ...workflowBody({ description: filler }),
      canvasState: state,
    });
    expect(answer.status).toBe(201);
    expect((await exportOf(imported.parse(answer.data).id)).canvasState).toEqual(state);
  });
});
