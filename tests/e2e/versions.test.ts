import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import {
  createActive,
  createInStatus,
  createWorkflow,
  getWorkflow,
  postRun,
  runToEnd,
  transform,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const timestamp = z.iso.datetime();
/** Version record, as the contract's table of fields has it. */
const versionRecord = z.strictObject({
  version: z.int().min(1),
  name: z.string(),
  description: z.string().optional(),
  trigger: z.record(z.string(), z.unknown()),
  steps: z.array(z.unknown()),
  changeSummary: z.string().optional(),
  status: z.enum(["current", "archived"]),
  isCurrent: z.boolean(),
  createdAt: timestamp.optional(),
});
const versionList = z.strictObject({
  workflowId: z.string(),
  currentVersion: z.int(),
  versions: z.array(versionRecord),
});

async function put(id: string, body: Record<string, unknown>): Promise<void> {
  const answer = await system.call("PUT", `/workflows/${id}`, { body });
  expect(answer).toMatchObject({ status: 200, error: undefined });
}

async function listVersions(id: string, query = "") {
  const answer = await system.call("GET", `/workflows/${id}/versions${query}`);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return { ...versionList.parse(answer.data), meta: answer.meta };
}

const rollBack = (id: string, version: number | string, body?: unknown) =>
  system.call("POST", `/workflows/${id}/versions/${version}/rollback`, { body });

const compare = (id: string, from: number | string, to: number | string) =>
  system.call("GET", `/workflows/${id}/versions/compare?from=${from}&to=${to}`);

/** An active workflow of three versions whose output is its version. */
async function createThreeVersions(): Promise<string> {
  const id = await createActive(system, { name: "One", steps: [transform("out", 1)] });
  await put(id, { name: "Two", steps: [transform("out", 2)], changeSummary: "second" });
  await put(id, { description: "Three", steps: [transform("out", 3)] });
  return id;
}

describe("GET /workflows/{id}/versions", () => {
  it("lists all versions, newest first, the current one without createdAt", async () => {
    const id = await createThreeVersions();
    const { workflowId, currentVersion, versions, meta } = await listVersions(id);
    expect({ workflowId, currentVersion }).toEqual({ workflowId: id, currentVersion: 3 });
    expect(meta).toEqual({ cursor: null, hasMore: false });
    expect(versions).toEqual([
      {
        version: 3,
        name: "Two",
        description: "Three",
        trigger: { type: "api" },
        steps: [transform("out", 3)],
        status: "current",
        isCurrent: true,
      },
      {
        version: 2,
        name: "Two",
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
        trigger: { type: "api" },
        steps: [transform("out", 1)],
        status: "archived",
        isCurrent: false,
        createdAt: (await getWorkflow(system, id)).createdAt,
      },
    ]);
  });

  it("of a workflow that was never active shows the one version, whatever was changed (D20)", async () => {
    const { id } = await createWorkflow(system);
    await put(id, { name: "Renamed", changeSummary: "renamed" });
    const { currentVersion, versions } = await listVersions(id);
    expect(currentVersion).toBe(1);
    expect(versions).toMatchObject([
      { version: 1, name: "Renamed", changeSummary: "renamed", isCurrent: true },
    ]);
  });

  it("can be read in pages, each version once, and of archived workflows", async () => {
    const id = await createThreeVersions();
    expect((await system.call("DELETE", `/workflows/${id}`)).status).toBe(200);
    const seen: number[] = [];
    let query = "?limit=2";
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await listVersions(id, query);
      expect(page.currentVersion).toBe(3);
      seen.push(...page.versions.map(({ version }) => version));
      cursor = page.meta?.cursor ?? null;
      query = `?limit=2&cursor=${cursor}`;
    }
    expect(seen).toEqual([3, 2, 1]);
    const other = await createThreeVersions();
    const { meta } = await listVersions(other, "?limit=1");
    for (const bad of [meta?.cursor ?? "", "abc"]) {
      const answer = await system.call("GET", `/workflows/${id}/versions?cursor=${bad}`);
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    }
  });

  it("fits every version into a page that a caller can take, however large they are", async () => {
    const id = await createActive(system);
    const filler = "x".repeat(900_000);
    for (let n = 0; n < 20; n += 1) await put(id, { description: `${n}${filler}` });
    const first = await listVersions(id);
    expect(first.meta?.hasMore).toBe(true);
    expect(first.versions.length).toBeGreaterThan(10);
    const rest = await listVersions(id, `?cursor=${first.meta?.cursor}`);
    expect([...first.versions, ...rest.versions].map(({ version }) => version)).toEqual(
      Array.from({ length: 21 }, (_, index) => 21 - index),
    );
  });
});

describe("GET /workflows/{id}/versions/{version}", () => {
  it("returns archived versions and the current one, with the time when each came to be", async () => {
    const id = await createThreeVersions();
    const { versions } = await listVersions(id);
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
      const id = await createThreeVersions();
      for (const answer of [
        await system.call("GET", `/workflows/${id}/versions/${version}`),
        await rollBack(id, version, {}),
      ]) {
        expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
      }
    },
  );
});

describe("GET /workflows/{id}/versions/compare", () => {
  it("has exactly the contract's shape, and details of modified steps beside it", async () => {
    const id = await createThreeVersions();
    const { status, data } = await compare(id, 1, 3);
    expect(status).toBe(200);
    expect(data).toEqual({
      fromVersion: 1,
      toVersion: 3,
      changes: {
        name: { from: "One", to: "Two", changed: true },
        description: { from: null, to: "Three", changed: true },
        trigger: { changed: false },
        steps: {
          added: [],
          removed: [],
          modified: ["out"],
          modifiedDetails: [
            {
              id: "out",
              changes: [{ path: "/config/mapping", kind: "changed", from: 1, to: 3 }],
            },
          ],
        },
      },
    });
  });

  it("finds no difference between a version and itself, nor in the order of keys", async () => {
    const id = await createActive(system, {
      trigger: { type: "webhook", path: "in" },
      steps: [transform("out", { a: 1, b: 2 })],
    });
    await put(id, {
      trigger: { path: "in", type: "webhook" },
      steps: [transform("out", { b: 2, a: 1 })],
    });
    for (const to of [1, 2]) {
      const { data } = await compare(id, 1, to);
      expect(data).toMatchObject({
        changes: {
          name: { changed: false },
          description: { from: null, to: null, changed: false },
          trigger: { changed: false },
          steps: { added: [], removed: [], modified: [], modifiedDetails: [] },
        },
      });
    }
  });

  it("counts nested steps by their ids, and the step around them as modified", async () => {
    const loop = (steps: unknown[]) => ({
      id: "loop",
      type: "loop",
      name: "loop",
      config: { count: 2, steps },
    });
    const id = await createActive(system, {
      steps: [transform("first", 1), loop([transform("in", "a/b"), transform("gone", 1)])],
    });
    await put(id, {
      steps: [loop([transform("in", { "a/~b": 1 }), transform("new", 1)]), transform("first", 1)],
    });
    const { data } = await compare(id, 1, 2);
    expect(data).toMatchObject({
      changes: {
        steps: {
          added: ["new"],
          removed: ["gone"],
          modified: ["loop", "in"],
          modifiedDetails: [
            {
              id: "loop",
              changes: [
                { path: "/config/steps/0", kind: "nested" },
                { path: "/config/steps/1", kind: "changed", from: "gone", to: "new" },
              ],
            },
            {
              id: "in",
              changes: [
                { path: "/config/mapping", kind: "changed", from: "a/b", to: { "a/~b": 1 } },
              ],
            },
          ],
        },
      },
    });
    const back = await compare(id, 2, 1);
    expect(back.data).toMatchObject({ changes: { steps: { added: ["gone"], removed: ["new"] } } });
  });

  it("writes JSON pointers and says where there are too many changes or too much text", async () => {
    const id = await createActive(system, {
      steps: [transform("out", { "a/b~c": [1, 2, 3], long: "x" })],
    });
    await put(id, { steps: [transform("out", { "a/b~c": [1, 9], long: "y".repeat(2_000) })] });
    await put(id, {
      steps: [transform("out", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, n])))],
    });
    expect((await compare(id, 1, 2)).data).toMatchObject({
      changes: {
        steps: {
          modifiedDetails: [
            {
              id: "out",
              changes: [
                { path: "/config/mapping/a~1b~0c/1", kind: "changed", from: 2, to: 9 },
                { path: "/config/mapping/a~1b~0c/2", kind: "removed", from: 3 },
                { path: "/config/mapping/long", kind: "changed", from: "x" },
              ],
            },
          ],
        },
      },
    });
    const { data } = await compare(id, 1, 3);
    const details = z
      .object({
        changes: z.object({
          steps: z.object({
            modifiedDetails: z.array(
              z.object({ changes: z.array(z.unknown()), truncated: z.boolean() }),
            ),
          }),
        }),
      })
      .parse(data).changes.steps.modifiedDetails[0];
    expect(details?.truncated).toBe(true);
    expect(details?.changes).toHaveLength(100);
  });

  it.each([
    ["?from=1", ["to"]],
    ["?to=1", ["from"]],
    ["", ["from", "to"]],
    ["?from=a&to=1.5", ["from", "to"]],
    ["?from=&to=1", ["from"]],
    ["?from=1e0&to=1", ["from"]],
  ])("answers 400 to %s, naming the parameter", async (query, names) => {
    const id = await createThreeVersions();
    const { status, error } = await system.call("GET", `/workflows/${id}/versions/compare${query}`);
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      details: names.map((name) => ({ path: [name], message: expect.any(String) })),
    });
  });

  it.each([
    [1, 4],
    [0, 1],
    [-1, 1],
    [1, 4294967297],
  ])("answers 404 for an unknown version: %s to %s", async (from, to) => {
    const id = await createThreeVersions();
    expect(await compare(id, from, to)).toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND", message: "Workflow version not found" },
    });
  });
});

describe("POST /workflows/{id}/versions/{version}/rollback", () => {
  it("makes a new version with the old content, at work at once in an active workflow", async () => {
    const id = await createThreeVersions();
    const { status, data } = await rollBack(id, 1, { changeSummary: "two was wrong" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      id,
      name: "One",
      version: 4,
      status: "active",
      steps: [transform("out", 1)],
      rolledBackFrom: 3,
      rolledBackTo: 1,
    });
    expect(data).not.toHaveProperty("description");
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { output: 1, workflowVersion: 4 } });
    const { versions } = await listVersions(id);
    expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    expect(versions[0]).toMatchObject({ changeSummary: "two was wrong", isCurrent: true });
    expect(versions[1]).toMatchObject({ version: 3, status: "archived", description: "Three" });
  });

  it.each(["draft", "paused"] as const)("always makes a new version: %s (D20)", async (status) => {
    const id = await createInStatus(system, status, { name: "Before" });
    await put(id, { name: "After" });
    const answer = await rollBack(id, 1);
    expect(answer).toMatchObject({
      status: 200,
      data: { version: 2, status, name: "After", rolledBackFrom: 1, rolledBackTo: 1 },
    });
    const { versions } = await listVersions(id);
    expect(versions).toMatchObject([
      { version: 2, changeSummary: "Rollback to version 1" },
      { version: 1, status: "archived" },
    ]);
    expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
    expect(await runToEnd(system, id)).toMatchObject({ status: "completed", workflowVersion: 2 });
  });

  it("is refused for an archived workflow, which stays as it is", async () => {
    const id = await createInStatus(system, "archived");
    expect(await rollBack(id, 1, {})).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: { currentStatus: "archived" } },
    });
    expect((await listVersions(id)).currentVersion).toBe(1);
  });

  it("keeps numbers without gaps when many roll back and update at the same time", async () => {
    const id = await createThreeVersions();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? rollBack(id, 1 + (n % 3))
          : system.call("PUT", `/workflows/${id}`, { body: { steps: [transform("out", n)] } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { versions, currentVersion } = await listVersions(id);
    expect(currentVersion).toBe(23);
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: 23 }, (_, index) => 23 - index),
    );
    const now = await getWorkflow(system, id);
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { workflowVersion: 23 } });
    expect(now.steps).toEqual(versions[0]?.steps);
  });

  it.each([[{ changeSummary: 7 }], [{ changeSummary: "x".repeat(10_001) }], [[]]])(
    "refuses the body %#",
    async (body) => {
      const id = await createThreeVersions();
      expect(await rollBack(id, 1, body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    },
  );
});
