import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { AgentStatus, AgentType } from "@workflow/proto/integrations/v1/agents";
import { z } from "zod";
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
let harness: ManagedAgents["harness"];
let listAll: ManagedAgents["listAll"];
let other: ManagedAgents["other"];
let update: ManagedAgents["update"];

beforeAll(async () => {
  context = await startManagedAgents();
  ({ agents, create, fill, harness, listAll, other, update } = context);
});
afterAll(() => context.close());

describe("names", () => {
  it("are unique among active agents of a company, case by case", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    const { id } = await create(caller, { name: "Reader" });
    const taken = await errorOf(create(caller, { name: "Reader" }));
    expect(taken).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["name"] }] });
    expect(taken.message).toContain("already exists");
    await create(caller, { name: "reader" });
    await create(stranger, { name: "Reader" });
    await agents.deleteAgent({ agentId: id }, caller);
    await create(caller, { name: "Reader" });
  });

  it("cannot be taken over by an update, and an agent keeps its own", async () => {
    const caller = newCaller();
    const { id, name } = await create(caller);
    const { name: foreign } = await create(caller);
    const taken = await errorOf(update(caller, id, { name: foreign }));
    expect(taken).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["name"] }] });
    expect(await update(caller, id, { name })).toMatchObject({ name, version: 2 });
  });

  it("go to exactly one of many that are made at once on two replicas", async () => {
    const caller = newCaller();
    const request = { name: "One", type: AgentType.CUSTOM, systemPrompt: "Answer." };
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? agents : other).createAgent(request, caller),
      ),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await listAll(caller, { withoutCore: true })).toEqual([["One"]]);
  });
});

describe("a deprecated agent", () => {
  it("answers by its id, stays as it is, and is listed only when asked for", async () => {
    const caller = newCaller();
    const { id: agentId, name } = await create(caller);
    await agents.deleteAgent({ agentId }, caller);
    const deprecated = await agents.getAgent({ agentId }, caller);
    expect(deprecated).toMatchObject({ status: AgentStatus.DEPRECATED, version: 1 });
    await agents.deleteAgent({ agentId }, caller);
    expect(await errorOf(update(caller, agentId, { name: "New" }))).toMatchObject({
      reason: "BAD_REQUEST",
    });
    expect(await agents.getAgent({ agentId }, caller)).toEqual(deprecated);
    expect(await listAll(caller, { withoutCore: true })).toEqual([[]]);
    expect(await listAll(caller, { status: AgentStatus.ACTIVE })).toEqual([CORE_IDS]);
    expect(await listAll(caller, { status: AgentStatus.DEPRECATED })).toEqual([[name]]);
  });

  it("goes when a company has deprecated 1,000 others since", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    const first = await create(caller);
    const kept = await create(stranger);
    await agents.deleteAgent({ agentId: first.id }, caller);
    await agents.deleteAgent({ agentId: kept.id }, stranger);
    await fill(caller, 999, "deprecated");
    const last = await create(caller);
    expect(await agents.getAgent({ agentId: first.id }, caller)).toMatchObject({ id: first.id });
    await agents.deleteAgent({ agentId: last.id }, caller);
    expect(await errorOf(agents.getAgent({ agentId: first.id }, caller))).toMatchObject({
      reason: "NOT_FOUND",
    });
    expect(await agents.getAgent({ agentId: last.id }, caller)).toMatchObject({ id: last.id });
    expect(await agents.getAgent({ agentId: kept.id }, stranger)).toMatchObject({ id: kept.id });
  });
});

const NAMES = Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: "object" }] as const);

describe("a company", () => {
  it("has at most 1,000 active agents, however many are made at once", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    await fill(caller, 998, "active");
    await fill(caller, 10, "deprecated");
    const made = await Promise.allSettled(Array.from({ length: 5 }, () => create(caller)));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const refused = await errorOf(create(caller));
    expect(refused).toMatchObject({
      reason: "BAD_REQUEST",
      details: { limit: "agents", max: 1_000 },
    });
    await create(stranger);
    const { agents: listed } = await agents.listAgents(WHOLE_LIST, caller);
    await agents.deleteAgent({ agentId: listed[0]?.id ?? "" }, caller);
    await create(caller);
  });

  it("neither sees, changes nor deletes another one's agents", async () => {
    const [caller, stranger] = [newCaller(), newCaller()];
    const { id: agentId } = await create(caller);
    const before = await agents.getAgent({ agentId }, caller);
    for (const id of [agentId, newUuid(), "agent_unknown", "", "x".repeat(10_000)]) {
      for (const attempt of [
        agents.getAgent({ agentId: id }, stranger),
        update(stranger, id, { name: "Taken over" }),
        agents.deleteAgent({ agentId: id }, stranger),
      ]) {
        expect(await errorOf(attempt)).toMatchObject({
          reason: "NOT_FOUND",
          message: "Agent not found",
        });
      }
    }
    expect(await listAll(stranger)).toEqual([CORE_IDS]);
    expect(await agents.getAgent({ agentId }, caller)).toEqual(before);
  });

  it("has schemas checked without holding up others, and not any number of them at a time", async () => {
    const caller = newCaller();
    const outputSchemaJson = () =>
      JSON.stringify({ title: newUuid(), properties: Object.fromEntries(NAMES) });
    const many = Array.from({ length: 60 }, () =>
      errorOf(update(caller, newUuid(), { outputSchemaJson: outputSchemaJson() })),
    );
    const stranger = create(newCaller(), { outputSchemaJson: outputSchemaJson() });
    const reasons = new Set((await Promise.all(many)).map(({ reason }) => reason));
    expect(reasons).toEqual(new Set(["RATE_LIMITED", "NOT_FOUND"]));
    expect(await stranger).toMatchObject({ version: 1 });
    await create(caller, { outputSchemaJson: outputSchemaJson() });
  });
});

describe("a change and its audit event", () => {
  it("are written together or not at all", async () => {
    const caller = newCaller();
    const { id: agentId, name } = await create(caller);
    const before = await agents.getAgent({ agentId }, caller);
    await harness.database.query(sql.type(z.object({}))`
      create function integrations.refuse_audit() returns trigger language plpgsql as
      $$ begin raise exception 'no room'; end $$
    `);
    await harness.database.query(sql.type(z.object({}))`
      create trigger refuse_audit before insert on integrations.outbox
      for each row execute function integrations.refuse_audit()
    `);
    try {
      expect(await errorOf(create(caller))).toMatchObject({ reason: "INTERNAL_ERROR" });
      expect(await errorOf(update(caller, agentId, { name: "New" }))).toMatchObject({
        reason: "INTERNAL_ERROR",
      });
      expect(await errorOf(agents.deleteAgent({ agentId }, caller))).toMatchObject({
        reason: "INTERNAL_ERROR",
      });
    } finally {
      await harness.database.query(sql.type(z.object({}))`
        drop trigger refuse_audit on integrations.outbox
      `);
    }
    expect(await agents.getAgent({ agentId }, caller)).toEqual(before);
    expect(await listAll(caller, { withoutCore: true })).toEqual([[name]]);
  });
});
