import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AgentStatus, AgentType } from "@workflow/proto/integrations/v1/agents";
import type { ListAgentsRequest } from "@workflow/proto/integrations/v1/agents";
import {
  CORE_IDS,
  WHOLE_LIST,
  newCaller,
  startManagedAgents,
} from "./support/managed-agents-harness.ts";
import type { ManagedAgents } from "./support/managed-agents-harness.ts";
import { errorOf } from "./support/harness.ts";

let context: ManagedAgents;
let agents: ManagedAgents["agents"];
let create: ManagedAgents["create"];
let fill: ManagedAgents["fill"];
let listAll: ManagedAgents["listAll"];
let other: ManagedAgents["other"];
let update: ManagedAgents["update"];

beforeAll(async () => {
  context = await startManagedAgents();
  ({ agents, create, fill, listAll, other, update } = context);
});
afterAll(() => context.close());

describe("a list", () => {
  it("is newest first, core agents last, in pages of any size", async () => {
    const caller = newCaller();
    const names = ["first", "second", "third"];
    for (const name of names) await create(caller, { name });
    const whole = ["third", "second", "first", ...CORE_IDS];
    for (let limit = 1; limit <= 8; limit += 1) {
      const pages = await listAll(caller, {}, limit);
      expect(pages.flat()).toEqual(whole);
      expect(pages.map((page) => page.length)).toEqual(
        Array.from({ length: Math.ceil(7 / limit) }, (_, index) =>
          Math.min(limit, 7 - index * limit),
        ),
      );
    }
    expect(await listAll(caller, { withoutCore: true }, 2)).toEqual([
      ["third", "second"],
      ["first"],
    ]);
  });

  it("leaves out nothing and repeats nothing when agents are made and changed between pages", async () => {
    const caller = newCaller();
    for (const name of ["first", "second", "third"]) await create(caller, { name });
    const start = await agents.listAgents(
      { ...WHOLE_LIST, page: { limit: 2, cursor: "" } },
      caller,
    );
    await create(caller, { name: "fourth" });
    await update(caller, start.agents[1]?.id ?? "", { description: "Changed" });
    const page = { limit: 100, cursor: start.page?.cursor ?? "" };
    const rest = await agents.listAgents({ ...WHOLE_LIST, page }, caller);
    expect(rest.agents.map(({ name, isCore, id }) => (isCore ? id : name))).toEqual([
      "first",
      ...CORE_IDS,
    ]);
  });

  it("filters by type, also core agents", async () => {
    const caller = newCaller();
    await create(caller, { name: "decider", type: AgentType.DECISION });
    await create(caller, { name: "coder", type: AgentType.CODE });
    expect(await listAll(caller, { type: AgentType.DECISION })).toEqual([
      ["decider", "agent_decision"],
    ]);
    expect(await listAll(caller, { type: AgentType.CODE })).toEqual([["coder"]]);
    expect(await listAll(caller, { type: AgentType.CONTENT }, 1)).toEqual([["agent_content"]]);
  });

  it.each([
    ["inv", ["INVOICES", "invoice"]],
    ["VOICE", ["INVOICES", "invoice"]],
    ["ÄRZTE", ["Die Ärzte"]],
    ["ärzte", ["Die Ärzte"]],
    ["100%", ["100% sure"]],
    ["%", ["100% sure"]],
    ["_", ["under_score"]],
    ["\\", ["back\\slash"]],
    ["'", ["o'clock"]],
    ["nothing like it", []],
  ])("finds a part of the name in any case: %s", async (search, found) => {
    const caller = newCaller();
    const names = [
      "invoice",
      "INVOICES",
      "Die Ärzte",
      "100% sure",
      "under_score",
      "back\\slash",
      "o'clock",
    ];
    for (const name of names) await create(caller, { name });
    expect(await listAll(caller, { search, withoutCore: true })).toEqual([found]);
  });

  it("finds core agents by their names too", async () => {
    const caller = newCaller();
    const core = await agents.getAgent({ agentId: "agent_extraction" }, caller);
    const search = core.name.toUpperCase();
    expect(await listAll(caller, { search })).toEqual([["agent_extraction"]]);
  });

  it("has 50 agents unless it says how many", async () => {
    const caller = newCaller();
    await fill(caller, 60, "active");
    const { agents: page } = await agents.listAgents(WHOLE_LIST, caller);
    expect(page).toHaveLength(50);
  });

  it.each([
    ["long", "ツ"],
    ["longer as JSON", "\u0001"],
  ])("ends a page early where its texts are %s, and comes to the end", async (_how, character) => {
    const caller = newCaller();
    const systemPrompt = character.repeat(100_000);
    const agentBytes = Buffer.byteLength(JSON.stringify(systemPrompt));
    const names = Array.from({ length: 10 }, (_, index) => `Large ${index}`);
    for (const name of names) await create(caller, { name, systemPrompt });
    expect((await listAll(caller)).flat()).toEqual([...names.toReversed(), ...CORE_IDS]);
    const pages = await listAll(caller, { withoutCore: true });
    const largest = Math.max(...pages.map((page) => page.length)) * agentBytes;
    expect(largest).toBeLessThan(2 * 1024 * 1024);
  });

  it.each<[string, Partial<ListAgentsRequest>]>([
    ["limit", { page: { limit: 101, cursor: "" } }],
    ["limit", { page: { limit: -1, cursor: "" } }],
    ["type", { type: AgentType.UNRECOGNIZED }],
    ["status", { status: AgentStatus.UNRECOGNIZED }],
    ["search", { search: "x".repeat(256) }],
    ["search", { search: "a\0" }],
    ["cursor", { page: { limit: 1, cursor: "forged" } }],
  ])("refuses a wrong %s (%#)", async (field, more) => {
    const error = await errorOf(agents.listAgents({ ...WHOLE_LIST, ...more }, newCaller()));
    expect(error).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: [field] }] });
  });

  it("takes a cursor only for the company and the filters that it was made for", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    await create(caller);
    const { page } = await agents.listAgents(
      { ...WHOLE_LIST, page: { limit: 2, cursor: "" } },
      caller,
    );
    const next = { limit: 2, cursor: page?.cursor ?? "" };
    expect((await other.listAgents({ ...WHOLE_LIST, page: next }, caller)).agents).toHaveLength(2);
    for (const [more, who] of [
      [{}, stranger],
      [{ search: "a" }, caller],
      [{ type: AgentType.CUSTOM }, caller],
      [{ withoutCore: true }, caller],
      [{ status: AgentStatus.DEPRECATED }, caller],
    ] as const) {
      const error = await errorOf(agents.listAgents({ ...WHOLE_LIST, ...more, page: next }, who));
      expect(error).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["cursor"] }] });
    }
  });
});

describe("a check", () => {
  it("names what is not there or deprecated, and nothing that can be asked", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    const [active, ended, foreign] = await Promise.all([
      create(caller),
      create(caller),
      create(stranger),
    ]);
    await agents.deleteAgent({ agentId: ended.id }, caller);
    const unknown = [ended.id, foreign.id, newUuid(), "agent_nobody", ""];
    const agentIds = [active.id, active.id.toUpperCase(), ...unknown, ...CORE_IDS];
    const { missingAgentIds } = await agents.checkAgents({ agentIds }, caller);
    expect(missingAgentIds).toEqual(unknown);
    const none = await agents.checkAgents({ agentIds: [] }, caller);
    expect(none.missingAgentIds).toEqual([]);
    const tooMany = agents.checkAgents({ agentIds: Array(1_001).fill("x") }, caller);
    expect(await errorOf(tooMany)).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["agentIds"] }],
    });
  });
});
