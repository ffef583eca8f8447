import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createInStatus, createWorkflow, workflowSchema } from "../support/scenarios.ts";
import type { Workflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const TOTAL = 12;

let system: WholeSystem;
/** Newest first. */
let workflows: Workflow[];
let pausedId: string;
let activeId: string;
let archivedId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  workflows = [];
  for (let n = 0; n < TOTAL; n += 1) {
    workflows.unshift(await createWorkflow(system, { name: `List ${n}` }));
  }
  await createWorkflow(system, { name: "List of another" }, { key: system.globex.key });
  pausedId = await createInStatus(system, "paused", { name: "Other: paused" });
  activeId = await createInStatus(system, "active", { name: "Other: active" });
  archivedId = await createInStatus(system, "archived", { name: "Other: archived" });
});
afterAll(() => system.stop());

async function list(query: string) {
  const answer = await system.call("GET", `/workflows${query}`);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  if (answer.meta === undefined) throw new Error("A list has meta.");
  const items = z.array(workflowSchema).parse(answer.data);
  return { items, ids: items.map(({ id }) => id), meta: answer.meta };
}

describe("GET /workflows", () => {
  it("shows the caller's workflows, newest first, without archived ones (D6, D21)", async () => {
    const { items, ids, meta } = await list("");
    expect(ids).toEqual([activeId, pausedId, ...workflows.map(({ id }) => id)]);
    expect(items.slice(2)).toEqual(workflows);
    expect(meta).toEqual({ cursor: null, hasMore: false });
  });

  it("filters by status", async () => {
    expect((await list("?status=active")).ids).toEqual([activeId]);
    expect((await list("?status=paused")).ids).toEqual([pausedId]);
    expect((await list("?status=archived&search=other")).ids).toEqual([archivedId]);
    expect((await list("?status=draft")).ids).toEqual(workflows.map(({ id }) => id));
  });

  it("searches in the name, whatever the case, and nothing in the text is a pattern", async () => {
    expect((await list("?search=lIsT")).ids).toEqual(workflows.map(({ id }) => id));
    expect((await list("?search=list%201")).ids).toHaveLength(3);
    expect((await list("?search=other&status=paused")).ids).toEqual([pausedId]);
    for (const pattern of ["%25", "_", "L.st", "*", "%5C"]) {
      expect((await list(`?search=${pattern}`)).ids).toEqual([]);
    }
  });

  it("is empty where nothing matches", async () => {
    expect(await list("?search=nothing-of-the-kind")).toMatchObject({
      ids: [],
      meta: { cursor: null, hasMore: false },
    });
  });

  it.each([1, 5, TOTAL - 1, TOTAL, TOTAL + 1, 100])(
    "pages of %i together are the whole list, each workflow once",
    async (limit) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await list(
          `?status=draft&limit=${limit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        expect(page.ids.length).toBeGreaterThan(0);
        expect(page.ids.length).toBeLessThanOrEqual(limit);
        seen.push(...page.ids);
        expect(page.meta.hasMore).toBe(seen.length < TOTAL);
        expect(page.meta.cursor === null).toBe(!page.meta.hasMore);
        cursor = page.meta.cursor;
      } while (cursor !== null);
      expect(seen).toEqual(workflows.map(({ id }) => id));
    },
  );

  it("goes on after the cursor's place though workflows come in between", async () => {
    const first = await list("?limit=3&search=list");
    const newer = await createWorkflow(system, { name: "Newer", trigger: { type: "manual" } });
    const rest = await list(`?limit=100&search=list&cursor=${first.meta.cursor}`);
    expect([...first.ids, ...rest.ids]).toEqual(workflows.map(({ id }) => id));
    await system.call("DELETE", `/workflows/${newer.id}`);
  });

  describe("refuses", () => {
    it.each([
      ["limit", "0"],
      ["limit", "101"],
      ["limit", "-1"],
      ["limit", "1.5"],
      ["limit", "ten"],
      ["limit", ""],
      ["limit", "1e1"],
      ["limit", "99999999999999999999"],
      ["status", "deleted"],
      ["status", ""],
      ["status", "ACTIVE"],
      ["cursor", "nonsense"],
      ["cursor", "AAAA.BBBB"],
      ["search", "%00"],
    ])("%s=%s with 400 and the parameter's name", async (name, value) => {
      const answer = await system.call("GET", `/workflows?${name}=${value}`);
      expect(answer.status).toBe(400);
      expect(answer.error?.code).toBe("BAD_REQUEST");
      if (name !== "cursor") {
        expect(answer.error?.details).toEqual([{ path: [name], message: expect.any(String) }]);
      }
    });

    it("a cursor that was changed by a single character", async () => {
      const { meta } = await list("?limit=3");
      const cursor = meta.cursor ?? "";
      for (const index of [0, Math.floor(cursor.length / 2), cursor.length - 1]) {
        const other = cursor[index] === "A" ? "B" : "A";
        const forged = cursor.slice(0, index) + other + cursor.slice(index + 1);
        const answer = await system.call("GET", `/workflows?limit=3&cursor=${forged}`);
        expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      }
    });

    it("a cursor of another list, of other filters or of another company (D6)", async () => {
      const { meta } = await list("?limit=3");
      const attempts: [string, string][] = [
        [`/workflows?status=draft&cursor=${meta.cursor}`, system.acme.key],
        [`/workflows?search=list&cursor=${meta.cursor}`, system.acme.key],
        [`/runs?cursor=${meta.cursor}`, system.acme.key],
        [`/workflows?cursor=${meta.cursor}`, system.globex.key],
      ];
      for (const [path, key] of attempts) {
        const answer = await system.call("GET", path, { key });
        expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      }
    });

    it("a parameter that is given twice", async () => {
      const answer = await system.call("GET", "/workflows?limit=1&limit=2");
      expect(answer).toMatchObject({ status: 400, error: { details: [{ path: ["limit"] }] } });
    });
  });

  it("ignores parameters that it does not know", async () => {
    expect((await list("?limit=1&colour=red")).ids).toHaveLength(1);
  });
});
