import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { agentSchema, getAgent, listAgentIds, makeAgent } from "../support/agents.ts";
import { auditOf } from "../support/audit-log.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const post = (body: unknown) => system.call("POST", "/agents", { body });
const put = (id: string, body?: unknown) => system.call("PUT", `/agents/${id}`, { body });
const whole = () => ({ name: `Agent ${newUuid()}`, type: "custom", systemPrompt: "Answer." });

const get = (id: string) => getAgent(system, id);
const list = (query: string, key?: string) => listAgentIds(system, query, key);

describe("PUT /agents/{id}", () => {
  it("changes what is given and raises the version each time", async () => {
    const id = await makeAgent(system, system.acme.key, { description: "Old", temperature: 0 });
    const before = await get(id);
    const answer = await put(id, { systemPrompt: "New.", type: "decision", maxTokens: 1 });
    expect(answer.status).toBe(200);
    const after = agentSchema.parse(answer.data);
    const { updatedAt } = after;
    const changed = { systemPrompt: "New.", type: "decision", maxTokens: 1, version: 2 };
    expect(after).toEqual({ ...before, ...changed, updatedAt });
    expect(updatedAt >= before.updatedAt).toBe(true);
    expect(await put(id, {})).toMatchObject({ status: 200, data: { ...changed, version: 3 } });
    expect(await put(id)).toMatchObject({ status: 200, data: { ...changed, version: 4 } });
  });

  it("clears description and outputSchema by null", async () => {
    const outputSchema = { type: "object" };
    const id = await makeAgent(system, system.acme.key, { description: "Old", outputSchema });
    expect(await get(id)).toMatchObject({ description: "Old", outputSchema });
    const answer = await put(id, { description: null, outputSchema: null });
    expect(answer).toMatchObject({ status: 200, data: { description: null, outputSchema: null } });
  });

  it.each(["name", "type", "systemPrompt", "provider", "model", "temperature", "maxTokens"])(
    "answers 400 to null as %s",
    async (field) => {
      const id = await makeAgent(system, system.acme.key);
      expect(await put(id, { [field]: null })).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: [field] }] },
      });
      expect(await get(id)).toMatchObject({ version: 1 });
    },
  );

  it("gives two that come at once two versions", async () => {
    const id = await makeAgent(system, system.acme.key);
    const answers = await Promise.all([put(id, { temperature: 1 }), put(id, { maxTokens: 5 })]);
    const versions = answers.map(({ data }) => agentSchema.parse(data).version);
    expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3]);
    expect(await get(id)).toMatchObject({ version: 3, temperature: 1, maxTokens: 5 });
  });

  it("does not let status, version or scope be set", async () => {
    const id = await makeAgent(system, system.acme.key);
    const body = { status: "deprecated", version: 9, scope: "global" };
    expect(await put(id, body)).toMatchObject({
      status: 200,
      data: { status: "active", version: 2, scope: "company" },
    });
  });

  it("answers 400 for a name that is taken and for a deprecated agent", async () => {
    const id = await makeAgent(system, system.acme.key);
    const other = await get(await makeAgent(system, system.acme.key));
    expect(await put(id, { name: other.name })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
    });
    await system.call("DELETE", `/agents/${id}`);
    expect(await put(id, { name: "New" })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });
});

describe("DELETE /agents/{id}", () => {
  it("deprecates for good: found by its id, not in lists, its name free again", async () => {
    const body = whole();
    const id = await makeAgent(system, system.acme.key, body);
    const before = await get(id);
    for (let times = 0; times < 2; times += 1) {
      expect(await system.call("DELETE", `/agents/${id}`)).toMatchObject({
        status: 200,
        data: { deleted: true },
      });
    }
    const after = await get(id);
    expect(after).toEqual({ ...before, status: "deprecated", updatedAt: after.updatedAt });
    expect(await list("")).not.toContain(id);
    expect(await list("status=active")).not.toContain(id);
    expect(await list("status=deprecated")).toContain(id);
    expect(await post(body)).toMatchObject({ status: 201 });
  });
});

describe("an agent that is not the company's", () => {
  it("is answered like one that is not there", async () => {
    const theirs = await makeAgent(system, system.globex.key);
    for (const id of [theirs, newUuid(), "agent_nobody", "%20"]) {
      for (const answer of [
        await system.call("GET", `/agents/${id}`),
        await put(id, { name: "Taken over" }),
        await system.call("DELETE", `/agents/${id}`),
      ]) {
        expect(answer).toMatchObject({
          status: 404,
          error: { code: "NOT_FOUND", message: "Agent not found" },
        });
      }
    }
    expect(await list("")).not.toContain(theirs);
  });
});

describe("the audit log", () => {
  it("tells what changed, but of prompts and schemas only that they did", async () => {
    const headers = { "x-request-id": `agents-${newUuid()}` };
    const secret = "hush-hush";
    const body = {
      name: "Told",
      type: "custom",
      systemPrompt: secret,
      outputSchema: { title: secret },
    };
    const created = await system.call("POST", "/agents", { body, headers });
    const { id } = agentSchema.parse(created.data);
    const change = { systemPrompt: `${secret}!`, temperature: 1 };
    await system.call("PUT", `/agents/${id}`, { body: change, headers });
    await system.call("DELETE", `/agents/${id}`, { headers });
    // Deprecated already: nothing happens, and nothing is told.
    await system.call("DELETE", `/agents/${id}`, { headers });
    const events = await auditOf(system, headers["x-request-id"]);
    expect(
      events.map(({ action, resourceId, changes }) => ({ action, resourceId, changes })),
    ).toEqual([
      {
        action: "agent.created",
        resourceId: id,
        changes: {
          name: { from: null, to: "Told" },
          type: { from: null, to: "custom" },
          status: { from: null, to: "active" },
          provider: { from: null, to: "openai" },
          temperature: { from: null, to: 0.7 },
          maxTokens: { from: null, to: 4096 },
          version: { from: null, to: 1 },
          systemPrompt: { changed: true },
          outputSchema: { changed: true },
        },
      },
      {
        action: "agent.updated",
        resourceId: id,
        changes: {
          name: { from: "Told", to: "Told" },
          temperature: { from: 0.7, to: 1 },
          version: { from: 1, to: 2 },
          systemPrompt: { changed: true },
        },
      },
      {
        action: "agent.deleted",
        resourceId: id,
        changes: {
          name: { from: "Told", to: "Told" },
          status: { from: "active", to: "deprecated" },
        },
      },
    ]);
  });
});
