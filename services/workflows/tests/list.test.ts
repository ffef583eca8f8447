import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { ListWorkflowsRequest } from "@workflow/proto/workflows/v1/workflows";
import type { Identity } from "@workflow/rpc";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  stepsJson,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

interface Query {
  status?: WorkflowStatus;
  search?: string;
  limit?: number;
  cursor?: string;
}

function toRequest({
  status = 0,
  search = "",
  limit = 0,
  cursor = "",
}: Query): ListWorkflowsRequest {
  return { status, search, page: { limit, cursor } };
}

/** One page as ids, and how to go on. */
async function list(identity: Identity, query: Query = {}) {
  const { workflows, page } = await harness.client.listWorkflows(toRequest(query), { identity });
  return {
    ids: workflows.map(({ id }) => id),
    cursor: page?.cursor ?? "",
    hasMore: page?.hasMore ?? false,
  };
}

/** The ids of all pages, walked to the end. */
async function listAll(identity: Identity, query: Query): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await list(identity, { ...query, cursor });
    expect(page.hasMore).toBe(page.cursor !== "");
    ids.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== "");
  return ids;
}

async function createMany(identity: Identity, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const { id } = await harness.client.createWorkflow(validWorkflow({ name }), { identity });
    ids.push(id);
  }
  return ids;
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `Workflow ${index}`);

describe("listing workflows", () => {
  it("walks all of them exactly once, newest first, also when many were made at the same moment", async () => {
    const identity = newIdentity();
    const ids = await createMany(identity, numbered(11));
    await harness.database.query(sql.unsafe`
      update workflows.workflows set created_at = '2026-01-01T00:00:00.123Z'
      where id = any(${sql.array(ids.slice(2, 9), "uuid")})
    `);
    const walked = await listAll(identity, { limit: 3 });
    const newestFirst = [...ids.slice(9).toReversed(), ...ids.slice(0, 2).toReversed()];
    expect(walked).toEqual([...newestFirst, ...ids.slice(2, 9).toReversed()]);
  });

  it("is not disturbed by workflows that are made between two pages", async () => {
    const identity = newIdentity();
    const ids = await createMany(identity, numbered(4));
    const first = await list(identity, { limit: 2 });
    await createMany(identity, ["a later one"]);
    const second = await list(identity, { limit: 2, cursor: first.cursor });
    expect([...first.ids, ...second.ids]).toEqual([...ids].toReversed());
    expect(second.hasMore).toBe(false);
  });

  it("returns 50 by default and at most 100", async () => {
    const identity = newIdentity();
    await createMany(identity, numbered(101));
    expect((await list(identity)).ids).toHaveLength(50);
    const full = await list(identity, { limit: 100 });
    expect(full.ids).toHaveLength(100);
    expect(full.hasMore).toBe(true);
  });

  it.each([-1, 101, 1_000_000])("refuses a limit of %d, naming it", async (limit) => {
    const call = harness.client.listWorkflows(toRequest({ limit }), { identity: newIdentity() });
    const error = await errorOf(call);
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path)).toEqual([["limit"]]);
  });

  it("ends a page early rather than building a message of more than 16 MiB", async () => {
    const identity = newIdentity();
    const large = validWorkflow({ stepsJson: stepsJson("x".repeat(1_000_000)) });
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      ids.push((await harness.client.createWorkflow(large, { identity })).id);
    }
    const first = await list(identity, { limit: 100 });
    expect(first.ids.length).toBeLessThan(20);
    expect(first.hasMore).toBe(true);
    const walked = await listAll(identity, { limit: 100 });
    expect(walked).toEqual(ids.toReversed());
  });
});

describe("filters", () => {
  it("leave archived workflows out unless asked for by status (D21)", async () => {
    const identity = newIdentity();
    const [draft = "", gone = ""] = await createMany(identity, ["draft", "gone"]);
    const active = await createActive(harness.client, identity);
    await harness.client.archiveWorkflow({ workflowId: gone }, { identity });

    expect((await list(identity)).ids).toEqual([active.id, draft]);
    const byStatus = async (status: WorkflowStatus) => (await list(identity, { status })).ids;
    expect(await byStatus(WorkflowStatus.DRAFT)).toEqual([draft]);
    expect(await byStatus(WorkflowStatus.ACTIVE)).toEqual([active.id]);
    expect(await byStatus(WorkflowStatus.PAUSED)).toEqual([]);
    expect(await byStatus(WorkflowStatus.ARCHIVED)).toEqual([gone]);
  });

  it("find a part of the name whatever its case, every character taken literally", async () => {
    const identity = newIdentity();
    const names = ["100% Über_all", "100 percent", "über all", 'back\\slash "quoted"'];
    const [percent, , uber, back] = await createMany(identity, names);
    const search = async (text: string) => (await list(identity, { search: text })).ids;
    expect(await search("0%")).toEqual([percent]);
    expect(await search("R_A")).toEqual([percent]);
    expect(await search("ÜBER")).toEqual([uber, percent]);
    expect(await search("\\SLASH")).toEqual([back]);
    expect(await search("%")).toEqual([percent]);
    expect(await search("'; drop table")).toEqual([]);
  });

  it("go on from page to page together with their cursor", async () => {
    const identity = newIdentity();
    const ids = await createMany(identity, ["red 1", "blue", "red 2", "red 3"]);
    const walked = await listAll(identity, { search: "red", limit: 1 });
    expect(walked).toEqual([ids[3], ids[2], ids[0]]);
  });
});

describe("a cursor", () => {
  it("is BAD_REQUEST when made up, altered, of other filters or of another company (D6)", async () => {
    const identity = newIdentity();
    await createMany(identity, numbered(3));
    const { cursor } = await list(identity, { limit: 1 });
    const other = newIdentity();
    const refused: [Identity, Query][] = [
      [identity, { cursor: "made-up" }],
      [identity, { cursor: `${cursor}A` }],
      [identity, { cursor, search: "Workflow" }],
      [identity, { cursor, status: WorkflowStatus.DRAFT }],
      [other, { cursor }],
    ];
    for (const [caller, query] of refused) {
      const call = harness.client.listWorkflows(toRequest(query), { identity: caller });
      expect((await errorOf(call)).reason).toBe("BAD_REQUEST");
    }
    expect((await list(identity, { limit: 2, cursor })).ids).toHaveLength(2);
  });

  it("survives a restart of the service", async () => {
    const identity = newIdentity();
    const ids = await createMany(identity, numbered(2));
    const { cursor } = await list(identity, { limit: 1 });
    await harness.stopService();
    await harness.startService();
    expect((await list(identity, { limit: 1, cursor })).ids).toEqual([ids[0]]);
  });
});
