import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { agentSchema, getAgent } from "../support/agents.ts";
import { bySession, signIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const post = (body: unknown) => system.call("POST", "/agents", { body });
const whole = () => ({ name: `Agent ${newUuid()}`, type: "custom", systemPrompt: "Answer." });
const JSON_TYPE = { "content-type": "application/json" };

const TYPES = [
  "extraction",
  "content",
  "transform",
  "decision",
  "code",
  "classification",
  "custom",
];

const get = (id: string) => getAgent(system, id);

describe("POST /agents", () => {
  it("answers 201 with an active agent of version 1 and the contract's defaults", async () => {
    const { status, data } = await post({ name: "Plain", type: "code", systemPrompt: "Review." });
    expect(status).toBe(201);
    const agent = agentSchema.parse(data);
    expect(agent).toMatchObject({
      name: "Plain",
      description: null,
      type: "code",
      scope: "company",
      status: "active",
      provider: "openai",
      systemPrompt: "Review.",
      outputSchema: null,
      temperature: 0.7,
      maxTokens: 4096,
      version: 1,
    });
    expect(agent.model).not.toBe("");
    expect(await get(agent.id)).toEqual(agent);
  });

  it("keeps the schema as it was sent, to the digit", async () => {
    const outputSchema =
      '{"properties":{"10":{},"2":{"const":12345678901234567890}}, "type":"object"}';
    const raw = `{"name":"Digits","type":"transform","systemPrompt":"x","outputSchema":${outputSchema}}`;
    const created = await system.call("POST", "/agents", { raw, headers: JSON_TYPE });
    expect(created.status).toBe(201);
    const { id } = agentSchema.parse(created.data);
    const { text } = await system.call("GET", `/agents/${id}`);
    expect(text).toContain(`"outputSchema":${outputSchema}`);
  });

  it("takes every type of the contract", async () => {
    for (const type of TYPES) {
      expect(await post({ ...whole(), type })).toMatchObject({ status: 201, data: { type } });
    }
  });

  it("does not let status, version, scope or id be set", async () => {
    const more = {
      id: newUuid(),
      status: "deprecated",
      version: 7,
      scope: "global",
      companyId: "x",
    };
    const { status, data } = await post({ ...whole(), ...more });
    expect(status).toBe(201);
    expect(data).toMatchObject({ status: "active", version: 1, scope: "company" });
    expect(agentSchema.parse(data).id).not.toBe(more.id);
  });

  it.each<[string, object]>([
    ["name", { name: undefined }],
    ["name", { name: null }],
    ["name", { name: "" }],
    ["name", { name: 5 }],
    ["name", { name: "n".repeat(256) }],
    ["description", { description: 5 }],
    ["description", { description: "d".repeat(2_001) }],
    ["type", { type: undefined }],
    ["type", { type: "CODE" }],
    ["systemPrompt", { systemPrompt: undefined }],
    ["systemPrompt", { systemPrompt: "" }],
    ["systemPrompt", { systemPrompt: ["x"] }],
    ["provider", { provider: null }],
    ["provider", { provider: "mistral" }],
    ["model", { model: "gpt-2" }],
    ["model", { provider: "anthropic", model: "gpt-2" }],
    ["outputSchema", { outputSchema: "object" }],
    ["outputSchema", { outputSchema: [] }],
    ["outputSchema.properties.a.type", { outputSchema: { properties: { a: { type: "text" } } } }],
    ["temperature", { temperature: "1" }],
    ["temperature", { temperature: -0.01 }],
    ["temperature", { temperature: 2.01 }],
    ["temperature", { temperature: null }],
    ["maxTokens", { maxTokens: 0 }],
    ["maxTokens", { maxTokens: 1.5 }],
    ["maxTokens", { maxTokens: 128_001 }],
    ["maxTokens", { maxTokens: 1e300 }],
  ])("answers 400 that names %s to %j", async (field, more) => {
    const { status, error } = await post({ ...whole(), ...more });
    expect({ status, code: error?.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
    const details = z.array(z.object({ path: z.array(z.string()), message: z.string() }));
    expect(details.parse(error?.details).map(({ path }) => path.join("."))).toEqual([field]);
  });

  it.each([0, 1.5, -1, 128_001, 1e10, 1e300])(
    "says what maxTokens may be: not %s",
    async (maxTokens) => {
      const { error } = await post({ ...whole(), maxTokens });
      const message = "must be a whole number from 1 to 128000";
      expect(error?.details).toEqual([{ path: ["maxTokens"], message }]);
    },
  );

  it("names the types, the providers and the model that it would take", async () => {
    const { model } = await get("agent_content");
    const type = await post({ ...whole(), type: "writer" });
    expect(JSON.stringify(type.error?.details)).toContain("extraction, content, transform");
    const provider = await post({ ...whole(), provider: "mistral" });
    expect(provider.error?.message).toContain("openai, anthropic");
    const wrong = await post({ ...whole(), provider: "openai", model: "gpt-2" });
    expect(wrong.error?.message).toContain(`must be ${model}, the model of openai`);
  });

  it("answers 400 to the name of a core agent, which lists show beside it, and names that agent", async () => {
    const name = "Data extraction";
    const own = agentSchema.parse((await post(whole())).data);
    const put = { body: { name } };
    for (const refused of [
      await post({ ...whole(), name }),
      await system.call("PUT", `/agents/${own.id}`, put),
    ]) {
      expect(refused).toMatchObject({
        status: 400,
        error: {
          code: "BAD_REQUEST",
          message: expect.stringContaining("agent_extraction"),
          details: [{ path: ["name"] }],
        },
      });
    }
  });

  it("answers 400 to a name that another active agent has, and says which field it is", async () => {
    const body = whole();
    await post(body);
    expect(await post(body)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
    });
    const shouted = { ...body, name: body.name.toUpperCase() };
    expect(await post(shouted)).toMatchObject({ status: 201 });
    const { key } = system.globex;
    expect(await system.call("POST", "/agents", { key, body })).toMatchObject({ status: 201 });
  });

  it("answers 201 to exactly one of several with the same name at once", async () => {
    const body = whole();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(body)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array(7).fill(400)]);
  });
});

it("members make agents, viewers read them (D10, D13)", async () => {
  const member = await system.createPerson(system.acme, "member");
  const viewer = await system.createPerson(system.acme, "viewer");
  const asMember = bySession(system, await signIn(system, member));
  const asViewer = bySession(system, await signIn(system, viewer));
  const created = await system.call("POST", "/agents", { ...asMember, body: whole() });
  expect(created.status).toBe(201);
  const path = `/agents/${agentSchema.parse(created.data).id}`;
  expect(await system.call("GET", path, asViewer)).toMatchObject({ status: 200 });
  const refused = await system.call("PUT", path, { ...asViewer, body: { name: "Mine" } });
  expect(refused).toMatchObject({ status: 403, error: { code: "FORBIDDEN" } });
});
