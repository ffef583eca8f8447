import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AgentStatus, AgentType } from "@workflow/proto/integrations/v1/agents";
import type {
  CreateAgentRequest,
  UpdateAgentRequest,
} from "@workflow/proto/integrations/v1/agents";
import { CORE_IDS, newCaller, startManagedAgents } from "./support/managed-agents-harness.ts";
import type { ManagedAgents } from "./support/managed-agents-harness.ts";
import { errorOf } from "./support/harness.ts";

let context: ManagedAgents;
let agents: ManagedAgents["agents"];
let create: ManagedAgents["create"];
let other: ManagedAgents["other"];
let update: ManagedAgents["update"];

beforeAll(async () => {
  context = await startManagedAgents();
  ({ agents, create, other, update } = context);
});
afterAll(() => context.close());

describe("a new agent", () => {
  it("has version 1, is active, and has the defaults of the contract", async () => {
    const caller = newCaller();
    const created = await create(caller, { name: "Reader", type: AgentType.EXTRACTION });
    expect(created).toMatchObject({
      name: "Reader",
      type: AgentType.EXTRACTION,
      isCore: false,
      status: AgentStatus.ACTIVE,
      provider: "openai",
      systemPrompt: "Answer in one word.",
      temperature: 0.7,
      maxTokens: 4096,
      version: 1,
    });
    expect(created.description).toBeUndefined();
    expect(created.outputSchemaJson).toBeUndefined();
    expect(created.createdAt).toEqual(created.updatedAt);
    expect(await agents.getAgent({ agentId: created.id }, caller)).toEqual(created);
    expect(await other.getAgent({ agentId: created.id.toUpperCase() }, caller)).toEqual(created);
  });

  it("keeps what its author wrote, to the letter", async () => {
    const caller = newCaller();
    const content = {
      name: " Zoë 🦊 ",
      description: "For {{people}}\n",
      type: AgentType.DECISION,
      systemPrompt: "  Decide.\r\n{{input.x}} \u{1F98A}",
      provider: "anthropic",
      outputSchemaJson: '{ "type": "object",  "properties": {"n": {"const": 1.0}} }',
      temperature: 0,
      maxTokens: 128_000,
    };
    const { id } = await create(caller, content);
    expect(await agents.getAgent({ agentId: id }, caller)).toMatchObject(content);
  });

  it("of an empty description has none", async () => {
    expect((await create(newCaller(), { description: "" })).description).toBeUndefined();
  });

  it.each<[string, Partial<CreateAgentRequest>]>([
    ["name", { name: "" }],
    ["name", { name: "x".repeat(256) }],
    ["name", { name: "a\0b" }],
    ["description", { description: "x".repeat(2_001) }],
    ["type", { type: AgentType.UNSPECIFIED }],
    ["type", { type: AgentType.UNRECOGNIZED }],
    ["systemPrompt", { systemPrompt: "" }],
    ["systemPrompt", { systemPrompt: "x".repeat(100_001) }],
    ["provider", { provider: "" }],
    ["provider", { provider: "mistral" }],
    ["model", { model: "gpt-2" }],
    ["temperature", { temperature: -0.1 }],
    ["temperature", { temperature: 2.1 }],
    ["temperature", { temperature: Number.NaN }],
    ["maxTokens", { maxTokens: 0 }],
    ["maxTokens", { maxTokens: 128_001 }],
    ["outputSchema", { outputSchemaJson: "" }],
    ["outputSchema", { outputSchemaJson: "[]" }],
    ["outputSchema", { outputSchemaJson: "true" }],
    ["outputSchema", { outputSchemaJson: '{"title": "\\u0000"}' }],
    ["outputSchema", { outputSchemaJson: `{"title": "${"x".repeat(64 * 1024)}"}` }],
    ["outputSchema", { outputSchemaJson: JSON.stringify({ anyOf: Array(500).fill(true) }) }],
    ["outputSchema.type", { outputSchemaJson: '{"type": "text"}' }],
  ])("is refused with BAD_REQUEST that names %s (%#)", async (path, more) => {
    const error = await errorOf(create(newCaller(), more));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map((violation) => violation.path.join("."))).toContain(path);
  });

  it("is told everything that is wrong at once", async () => {
    const wrong = { name: "", systemPrompt: "", provider: "none", temperature: 3, maxTokens: -1 };
    const { violations } = await errorOf(create(newCaller(), wrong));
    const fields = ["name", "systemPrompt", "temperature", "maxTokens", "provider"];
    expect(violations.map(({ path }) => path.join("."))).toEqual(fields);
  });

  it("may have texts of characters outside the basic plane up to the limits", async () => {
    const created = await create(newCaller(), {
      name: "🦊".repeat(255),
      description: "🦊".repeat(2_000),
      systemPrompt: "🦊".repeat(100_000),
    });
    expect(created.systemPrompt).toHaveLength(200_000);
    const tooLong = await errorOf(create(newCaller(), { name: "🦊".repeat(256) }));
    expect(tooLong.violations).toMatchObject([{ path: ["name"] }]);
  });
});

describe("provider and model", () => {
  it("are paired: either decides the other, and no other pair is taken", async () => {
    const caller = newCaller();
    const openai = (await create(caller)).model;
    const anthropic = (await create(caller, { provider: "anthropic" })).model;
    expect(openai).not.toBe(anthropic);
    expect(await create(caller, { model: anthropic })).toMatchObject({ provider: "anthropic" });
    expect(await create(caller, { provider: "openai", model: openai })).toMatchObject({
      provider: "openai",
      model: openai,
    });
    const wrong = await errorOf(create(caller, { provider: "openai", model: anthropic }));
    expect(wrong.violations).toEqual([
      { path: ["model"], message: `must be ${openai}, the model of openai` },
    ]);
    const neither = await errorOf(create(caller, { model: "gpt-2" }));
    expect(neither.message).toContain(openai);
    expect(neither.message).toContain(anthropic);
  });

  it("change together: a provider brings its model, a model of the other one needs it", async () => {
    const caller = newCaller();
    const { id, model: openai } = await create(caller);
    const moved = await update(caller, id, { provider: "anthropic" });
    expect(moved).toMatchObject({ provider: "anthropic", version: 2 });
    const wrong = await errorOf(update(caller, id, { model: openai }));
    expect(wrong).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["model"], message: `must be ${moved.model}, the model of anthropic` }],
    });
    expect(await update(caller, id, { model: moved.model })).toMatchObject({ version: 3 });
    expect(await update(caller, id, { provider: "openai", model: openai })).toMatchObject({
      provider: "openai",
      version: 4,
    });
  });
});

describe("an update", () => {
  it("changes what is given alone, and clears what may be absent", async () => {
    const caller = newCaller();
    const before = await create(caller, {
      description: "Old",
      outputSchemaJson: '{"type":"object"}',
    });
    const changed = await update(caller, before.id, { systemPrompt: "New", temperature: 0 });
    expect(changed).toEqual({
      ...before,
      systemPrompt: "New",
      temperature: 0,
      version: 2,
      updatedAt: changed.updatedAt,
    });
    expect(changed.updatedAt?.getTime()).toBeGreaterThanOrEqual(before.updatedAt?.getTime() ?? 0);
    const cleared = await update(caller, before.id, { description: "", outputSchemaJson: "" });
    expect(cleared.description).toBeUndefined();
    expect(cleared.outputSchemaJson).toBeUndefined();
    expect(cleared.version).toBe(3);
  });

  it("raises the version also where nothing changes", async () => {
    const caller = newCaller();
    const before = await create(caller);
    expect(await update(caller, before.id)).toMatchObject({ version: 2, name: before.name });
  });

  it("counts each of many at once, on two replicas, and loses no field of any", async () => {
    const caller = newCaller();
    const { id: agentId } = await create(caller);
    const type = AgentType.UNSPECIFIED;
    const changes = [
      { name: newUuid() },
      { description: "New" },
      { systemPrompt: "New" },
      { temperature: 1 },
      { maxTokens: 7 },
      { provider: "anthropic" },
    ];
    const versions = await Promise.all(
      changes.map(async (change, index) => {
        const replica = index % 2 === 0 ? agents : other;
        return (await replica.updateAgent({ agentId, type, ...change }, caller)).version;
      }),
    );
    expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7]);
    const after = await agents.getAgent({ agentId }, caller);
    expect(after).toMatchObject(Object.assign({ version: 7 }, ...changes));
  });

  it.each<[string, Partial<UpdateAgentRequest>]>([
    ["name", { name: "" }],
    ["type", { type: AgentType.UNRECOGNIZED }],
    ["systemPrompt", { systemPrompt: "" }],
    ["provider", { provider: "none" }],
    ["temperature", { temperature: 2.5 }],
    ["maxTokens", { maxTokens: 0 }],
    ["outputSchema", { outputSchemaJson: "null" }],
  ])("with a wrong %s changes nothing", async (field, change) => {
    const caller = newCaller();
    const before = await create(caller);
    const error = await errorOf(update(caller, before.id, { description: "New", ...change }));
    expect(error).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: [field] }] });
    expect(await agents.getAgent({ agentId: before.id }, caller)).toEqual(before);
  });
});

describe("core agents", () => {
  it("are the four of the contract, active, of all companies, with a prompt and a schema", async () => {
    const types = [
      AgentType.EXTRACTION,
      AgentType.CONTENT,
      AgentType.TRANSFORM,
      AgentType.DECISION,
    ];
    for (const [index, agentId] of CORE_IDS.entries()) {
      const agent = await agents.getAgent({ agentId }, newCaller());
      const status = AgentStatus.ACTIVE;
      expect(agent).toMatchObject({ id: agentId, isCore: true, type: types[index], status });
      expect(agent.version).toBeGreaterThanOrEqual(1);
      expect(agent.systemPrompt.length).toBeGreaterThan(100);
      expect(JSON.parse(agent.outputSchemaJson ?? "")).toMatchObject({ type: "object" });
    }
  });

  it("can be neither changed nor deleted", async () => {
    const caller = newCaller();
    for (const agentId of CORE_IDS) {
      const before = await agents.getAgent({ agentId }, caller);
      for (const attempt of [
        update(caller, agentId, { name: "Mine" }),
        agents.deleteAgent({ agentId }, caller),
      ]) {
        const error = await errorOf(attempt);
        expect(error.reason).toBe("BAD_REQUEST");
        expect(error.message).toContain("Core agents");
      }
      expect(await agents.getAgent({ agentId }, caller)).toEqual(before);
    }
  });
});
