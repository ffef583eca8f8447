import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { getAgent, listAgentIds, makeAgent } from "../support/agents.ts";
import { clientOf } from "../support/client.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const CORE = {
  agent_extraction: "extraction",
  agent_content: "content",
  agent_transform: "transform",
  agent_decision: "decision",
};
const CORE_IDS = Object.keys(CORE);

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const put = (id: string, body?: unknown) => system.call("PUT", `/agents/${id}`, { body });

const get = (id: string) => getAgent(system, id);
const list = (query: string, key?: string) => listAgentIds(system, query, key);

describe("core agents", () => {
  it.each(Object.entries(CORE))(
    "%s is there for every company, with scope global",
    async (id, type) => {
      const agent = await get(id);
      expect(agent).toMatchObject({ id, type, scope: "global", status: "active" });
      expect(agent.outputSchema).not.toBeNull();
      const { key } = system.globex;
      expect(await system.call("GET", `/agents/${id}`, { key })).toMatchObject({ data: agent });
    },
  );

  it.each(CORE_IDS)("%s can be neither changed nor deleted", async (id) => {
    const before = await get(id);
    for (const answer of [
      await put(id, { name: "Mine" }),
      await system.call("DELETE", `/agents/${id}`),
    ]) {
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      expect(answer.error?.message).toContain("Core agents");
    }
    expect(await get(id)).toEqual(before);
  });
});

describe("GET /agents", () => {
  it("has the company's agents, newest first, and core agents last", async () => {
    const { key } = system.globex;
    const first = await makeAgent(system, key, { name: "Find me first" });
    const second = await makeAgent(system, key, { name: "Find me second", type: "decision" });
    const ids = await list("", key);
    expect(ids.slice(-4)).toEqual(CORE_IDS);
    expect(ids.slice(0, 2)).toEqual([second, first]);
    expect(await list("includeBuiltIn=false", key)).toEqual(ids.slice(0, -4));
    expect(await list("includeBuiltIn=true&search=FIND%20ME", key)).toEqual([second, first]);
    expect(await list("type=decision", key)).toEqual([second, "agent_decision"]);
    expect(await list("type=decision&includeBuiltIn=false&search=first", key)).toEqual([]);
  });

  it("pages through both with a cursor", async () => {
    const { key } = system.globex;
    for (let count = 0; count < 3; count += 1) await makeAgent(system, key);
    const ids = await list("", key);
    const seen: string[] = [];
    for await (const { items, meta } of clientOf(system, key).agents.list({ limit: 3 }).pages()) {
      expect(items.length).toBeLessThanOrEqual(3);
      seen.push(...items.map(({ id }) => id));
      expect(meta.hasMore).toBe(meta.cursor !== null);
    }
    expect(seen).toEqual(ids);
  });

  it.each([
    ["type", "type=none"],
    ["status", "status=archived"],
    ["search", `search=${"x".repeat(256)}`],
    ["includeBuiltIn", "includeBuiltIn=yes"],
    ["limit", "limit=0"],
    ["limit", "limit=101"],
    ["limit", "limit=ten"],
    ["cursor", "cursor=forged"],
  ])("answers 400 to a wrong %s", async (field, query) => {
    expect(await system.call("GET", `/agents?${query}`)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: [field] }] },
    });
  });

  it("takes no cursor of another company or of other filters", async () => {
    await makeAgent(system, system.acme.key);
    const { meta } = await system.call("GET", "/agents?limit=1");
    const cursor = meta?.cursor ?? "";
    expect(cursor).not.toBe("");
    for (const [query, key] of [
      [`cursor=${cursor}`, system.globex.key],
      [`cursor=${cursor}&type=custom`, system.acme.key],
      [`cursor=${cursor}&includeBuiltIn=false`, system.acme.key],
    ] as const) {
      expect(await system.call("GET", `/agents?${query}`, { key })).toMatchObject({
        status: 400,
        error: { details: [{ path: ["cursor"] }] },
      });
    }
  });
});
