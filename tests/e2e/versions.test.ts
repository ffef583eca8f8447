import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { auditOf } from "../support/audit-log.ts";
import {
  createActive,
  createWorkflow,
  getWorkflow,
  postRun,
  transform,
} from "../support/scenarios.ts";
import {
  createThreeVersions,
  listVersions,
  put,
  rollBack,
  versionRecord,
} from "../support/versions.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

describe("GET /workflows/{id}/versions", () => {
  it("lists all versions, newest first, the current one without createdAt", async () => {
    const id = await createThreeVersions(system);
    const { workflowId, currentVersion, versions, meta } = await listVersions(system, id);
    expect({ workflowId, currentVersion }).toEqual({ workflowId: id, currentVersion: 3 });
    expect(meta).toEqual({ cursor: null, hasMore: false });
    expect(versions).toEqual([
      {
        version: 3,
        name: "Two",
        description: "Three",
        trigger: { type: "api" },
        steps: [transform("out", 3)],
        changeSummary: null,
        status: "current",
        isCurrent: true,
      },
      {
        version: 2,
        name: "Two",
        description: null,
        trigger: { type: "api" },
        steps: [transform("out", 2)],
        changeSummary: "second",
        status: "archived",
        isCurrent: false,
        createdAt: expect.any(String),
      },
      {
        version: 1,
        name: "One",
        description: null,
        trigger: { type: "api" },
        steps: [transform("out", 1)],
        changeSummary: null,
        status: "archived",
        isCurrent: false,
        createdAt: (await getWorkflow(system, id)).createdAt,
      },
    ]);
  });

  it("of a workflow that was never active shows the one version, whatever was changed (D20)", async () => {
    const { id } = await createWorkflow(system);
    await put(system, id, { name: "Renamed", changeSummary: "renamed" });
    const { currentVersion, versions } = await listVersions(system, id);
    expect(currentVersion).toBe(1);
    expect(versions).toMatchObject([
      { version: 1, name: "Renamed", changeSummary: "renamed", isCurrent: true },
    ]);
  });

  it.each([
    ["nothing", {}],
    ["a summary alone", { changeSummary: "why" }],
    ["unknown fields alone", { colour: "red", version: 9, status: "draft" }],
    ["what is there already", { name: "Same" }],
  ])("has one more for every PUT of an active workflow, also of %s (D20)", async (_what, body) => {
    const id = await createActive(system, { name: "Same" });
    const answer = await system.call("PUT", `/workflows/${id}`, { body });
    expect(answer).toMatchObject({ status: 200, data: { version: 2, status: "active" } });
    const { versions } = await listVersions(system, id);
    const { changeSummary = null } = z.object({ changeSummary: z.string().optional() }).parse(body);
    expect(versions).toMatchObject([
      { version: 2, name: "Same", changeSummary, isCurrent: true },
      { version: 1, name: "Same", changeSummary: null, status: "archived" },
    ]);
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { workflowVersion: 2 } });
  });

  it("stays, with the workflow and its audit log, when a PUT of a draft says nothing", async () => {
    const draft = await createWorkflow(system);
    const requestId = `empty-${newUuid()}`;
    const answer = await system.call("PUT", `/workflows/${draft.id}`, {
      body: {},
      headers: { "x-request-id": requestId },
    });
    expect(answer).toMatchObject({ status: 200, data: draft });
    expect(await getWorkflow(system, draft.id)).toEqual(draft);
    expect(await auditOf(system, requestId)).toEqual([]);
  });

  it("can be read in pages, each version once, and of archived workflows", async () => {
    const id = await createThreeVersions(system);
    expect((await system.call("DELETE", `/workflows/${id}`)).status).toBe(200);
    const seen: number[] = [];
    let query = "?limit=2";
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await listVersions(system, id, query);
      expect(page.currentVersion).toBe(3);
      seen.push(...page.versions.map(({ version }) => version));
      cursor = page.meta?.cursor ?? null;
      query = `?limit=2&cursor=${cursor}`;
    }
    expect(seen).toEqual([3, 2, 1]);
    const other = await createThreeVersions(system);
    const { meta } = await listVersions(system, other, "?limit=1");
    for (const bad of [meta?.cursor ?? "", "abc"]) {
      const answer = await system.call("GET", `/workflows/${id}/versions?cursor=${bad}`);
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    }
  });

  it("fits every version into a page that a caller can take, however large they are", async () => {
    const id = await createActive(system);
    const filler = "x".repeat(900_000);
    for (let n = 0; n < 20; n += 1) await put(system, id, { description: `${n}${filler}` });
    const first = await listVersions(system, id);
    expect(first.meta?.hasMore).toBe(true);
    expect(first.versions.length).toBeGreaterThan(10);
    const rest = await listVersions(system, id, `?cursor=${first.meta?.cursor}`);
    expect([...first.versions, ...rest.versions].map(({ version }) => version)).toEqual(
      Array.from({ length: 21 }, (_, index) => 21 - index),
    );
    // 36 MB in all: slow beside other tests.
  });
});

describe("GET /workflows/{id}/versions/{version}", () => {
  it("returns archived versions and the current one, with the time when each came to be", async () => {
    const id = await createThreeVersions(system);
    const { versions } = await listVersions(system, id);
    for (const listed of versions) {
      const { data } = await system.call("GET", `/workflows/${id}/versions/${listed.version}`);
      expect(versionRecord.required({ createdAt: true }).parse(data)).toEqual({
        ...listed,
        createdAt: expect.any(String),
      });
    }
  });

  it.each(["4", "0", "-1", "01", "1.0", "abc", "99999999999", "4294967297", "%20"])(
    "answers 404 for version %s",
    async (version) => {
      const id = await createThreeVersions(system);
      for (const answer of [
        await system.call("GET", `/workflows/${id}/versions/${version}`),
        await rollBack(system, id, version, {}),
      ]) {
        expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
      }
    },
  );
});
