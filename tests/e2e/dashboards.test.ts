import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { auditOf } from "../support/audit-log.ts";
import { makeDashboard, signInEditor } from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { bySession, signIn } from "../support/people.ts";
import { createActive, failing, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const place = z.object({
  id: z.string(),
  x: z.number(),
  y: z.number(),
  w: z.number(),
  h: z.number(),
});
const layout = z.strictObject({ widgets: z.array(place), updatedAt: z.iso.datetime() });
const widget = z.strictObject({
  ...place.shape,
  type: z.string(),
  title: z.string(),
  config: z.unknown(),
  refresh: z.object({ intervalMs: z.number() }),
});
const dashboard = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  ownerId: z.uuid(),
  widgetCount: z.number(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  widgets: z.array(widget),
});

let system: WholeSystem;
let owner: SignedIn;
let colleague: SignedIn;
beforeAll(async () => {
  system = await startWholeSystem();
  owner = await signInEditor(system, system.acme);
  colleague = await signInEditor(system, system.acme);
});
afterAll(() => system.stop());

const send = (method: string, path: string, body?: unknown, who: SignedIn = owner) =>
  system.call(method, path, body === undefined ? who : { ...who, body });

async function create(name = "Board"): Promise<string> {
  return dashboard.parse((await send("POST", "/dashboards", { name })).data).id;
}

async function add(id: string, body: object = {}) {
  const answer = await send("POST", `/dashboards/${id}/widgets`, { type: "metric", ...body });
  expect(answer.error).toBeUndefined();
  return widget.parse(answer.data);
}

const read = async (id: string) =>
  dashboard.parse((await system.call("GET", `/dashboards/${id}`)).data);

type Widget = z.output<typeof widget>;
const placeOf = ({ id, x, y, w, h }: Widget) => ({ id, x, y, w, h });
const contentOf = ({ id, type, title, config, refresh }: Widget) => ({
  id,
  type,
  title,
  config,
  refresh,
});

/** A dashboard with three widgets side by side. */
async function createWithThree() {
  const id = await create();
  const widgets = [await add(id), await add(id), await add(id)];
  const at = (index: number, more: object = {}) => {
    const { id: widgetId = "", x, y, w, h } = widgets[index] ?? {};
    return { id: widgetId, x, y, w, h, ...more };
  };
  return { id, widgets, at, path: `/dashboards/${id}/layout` };
}

describe("a dashboard", () => {
  it("is created, read, changed and deleted by its owner", async () => {
    const made = await send("POST", "/dashboards", { name: "Runs", description: "All of them" });
    expect(made.status).toBe(201);
    const { id } = dashboard.parse(made.data);
    expect(await read(id)).toMatchObject({ name: "Runs", description: "All of them", widgets: [] });
    const changed = await send("PATCH", `/dashboards/${id}`, { name: "Runs 2" });
    expect(changed.data).toMatchObject({ name: "Runs 2", description: "All of them" });
    const cleared = await send("PATCH", `/dashboards/${id}`, { description: null });
    expect(dashboard.parse(cleared.data).description).toBeUndefined();
    expect(await send("DELETE", `/dashboards/${id}`)).toMatchObject({
      status: 200,
      data: { deleted: true },
    });
    expect((await system.call("GET", `/dashboards/${id}`)).status).toBe(404);
    expect((await send("DELETE", `/dashboards/${id}`)).status).toBe(404);
  });

  it.each([{}, { name: "" }, { name: "x".repeat(256) }, { name: 7 }])(
    "is not created from %j",
    async (body) => {
      expect(await send("POST", "/dashboards", body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
      });
    },
  );

  it("is listed to the whole company, newest first, page by page", async () => {
    const ids = [await create("a"), await create("b"), await create("c")];
    const first = await system.call("GET", "/dashboards?limit=2");
    expect(first.data).toMatchObject([{ id: ids[2] }, { id: ids[1] }]);
    const next = await send("GET", `/dashboards?limit=2&cursor=${first.meta?.cursor}`, undefined);
    expect(next.data).toMatchObject([{ id: ids[0] }, ...(next.meta?.hasMore ? [{}] : [])]);
    expect((await system.call("GET", "/dashboards?cursor=forged")).status).toBe(400);
  });
});

describe("who may change a dashboard", () => {
  const changes = (id: string, widgetId: string) =>
    [
      ["PATCH", `/dashboards/${id}`, { name: "Taken over" }],
      ["POST", `/dashboards/${id}/widgets`, { type: "text" }],
      ["PATCH", `/dashboards/${id}/widgets/${widgetId}`, { title: "Taken over" }],
      ["PUT", `/dashboards/${id}/layout`, { widgets: [{ id: widgetId, x: 1, y: 0, w: 4, h: 4 }] }],
      ["DELETE", `/dashboards/${id}/widgets/${widgetId}`, undefined],
      ["DELETE", `/dashboards/${id}`, undefined],
    ] as const;

  it("is its owner alone: 404 to colleagues, 403 to viewers and keys; all of them read", async () => {
    const { id, widgetId } = await makeDashboard(system, owner);
    const before = await read(id);
    const viewer = bySession(
      system,
      await signIn(system, await system.createPerson(system.acme, "viewer")),
    );
    const key = { key: system.acme.key, headers: {} };
    for (const [method, path, body] of changes(id, widgetId)) {
      expect(await send(method, path, body, colleague)).toMatchObject({
        status: 404,
        error: { code: "NOT_FOUND", message: "Dashboard not found" },
      });
      for (const who of [viewer, key]) {
        expect(await send(method, path, body, who)).toMatchObject({
          status: 403,
          error: { code: "FORBIDDEN" },
        });
      }
    }
    for (const who of [colleague, viewer, key]) {
      expect((await send("GET", `/dashboards/${id}`, undefined, who)).data).toEqual(before);
    }
  });

  it("answers 403 to a key before it looks at the body", async () => {
    const answer = await system.call("PUT", `/dashboards/${newUuid()}/layout`, { body: {} });
    expect(answer.status).toBe(403);
  });
});

describe("widgets", () => {
  it("are put where there is room, with the size asked for, wherever they were wanted", async () => {
    const id = await create();
    const wanted = { x: 7, y: -3, id: "mine" };
    expect(await add(id, wanted)).toMatchObject({ x: 0, y: 0, w: 4, h: 4 });
    expect(await add(id, { width: 6, height: 8, y: "low" })).toMatchObject({
      x: 4,
      y: 0,
      w: 6,
      h: 8,
    });
    expect(await add(id, { w: 12, h: 4 })).toMatchObject({ x: 0, y: 8, w: 12, h: 4 });
    expect(await add(id)).toMatchObject({ x: 0, y: 4 });
    expect((await read(id)).widgets).toHaveLength(4);
  });

  it.each<[string, object, string[]]>([
    ["no type", { type: undefined }, ["type"]],
    ["an unknown type", { type: "pie" }, ["type"]],
    ["too wide", { width: 13 }, ["width"]],
    ["no height", { h: 0 }, ["h"]],
    ["a title that is too long", { title: "x".repeat(256) }, ["title"]],
    ["a refresh that is too fast", { refresh: { intervalMs: 10 } }, ["refresh", "intervalMs"]],
    ["a config that is no object", { config: [] }, ["config"]],
    ["an unknown source", { config: { source: "moon" } }, ["config", "source"]],
    [
      "a workflow by name",
      { config: { source: "runs", workflowId: "x" } },
      ["config", "workflowId"],
    ],
    [
      "too many buckets",
      { config: { source: "runs", periodMs: 86_400_000, bucketMs: 60_000 } },
      ["config", "bucketMs"],
    ],
  ])("are refused with %s", async (_what, body, path) => {
    const id = await create();
    const answer = await send("POST", `/dashboards/${id}/widgets`, { type: "line", ...body });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path }] },
    });
  });

  it("are at most 40, also when more are added at once", async () => {
    const id = await create();
    for (let count = 0; count < 35; count += 1) await add(id, { w: 4, h: 4 });
    const path = `/dashboards/${id}/widgets`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send("POST", path, { type: "text" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
    const { widgets } = await read(id);
    expect(widgets).toHaveLength(40);
    const same = widgets.map(placeOf);
    const saved = await send("PUT", `/dashboards/${id}/layout`, { widgets: same });
    expect(layout.parse(saved.data).widgets).toEqual(same);
  });

  it("keep what a change does not mention, members of their config too", async () => {
    const id = await create();
    const config = { source: "runs", workflowId: newUuid(), color: "red", __proto__x: 1 };
    const made = await add(id, { title: "All", config, refresh: { intervalMs: 5_000 } });
    const path = `/dashboards/${id}/widgets/${made.id}`;
    const changed = await send("PATCH", path, { config: { color: "blue", workflowId: null } });
    const { layout: _layout, ...after } = z.looseObject({ layout }).parse(changed.data);
    expect(after).toEqual({
      ...made,
      config: { source: "runs", color: "blue", __proto__x: 1 },
    });
    const moved = await send("PATCH", path, { x: 8, y: 30, w: 4, h: 8 });
    expect(moved.data).toMatchObject({ ...after, x: 8, y: 0, w: 4, h: 8 });
    expect(await send("PATCH", path, { config: { source: "moon" } })).toMatchObject({
      status: 400,
    });
  });

  it("are moved by a whole position; what lies in the way moves down and gaps close", async () => {
    const { id, widgets, at } = await createWithThree();
    const [first, second, third] = widgets.map((each) => each.id);
    const path = `/dashboards/${id}/widgets/${third}`;
    const moved = await send("PATCH", path, { x: 0, y: 0, w: 8, h: 4 });
    expect(z.looseObject({ layout }).parse(moved.data).layout.widgets).toEqual([
      { id: third, x: 0, y: 0, w: 8, h: 4 },
      at(0, { y: 4 }),
      at(1, { y: 4 }),
    ]);
    const removed = await send("DELETE", path);
    expect(z.looseObject({ layout }).parse(removed.data).layout.widgets).toEqual([at(0), at(1)]);
    expect((await read(id)).widgets.map((each) => each.id)).toEqual([first, second]);
    expect((await send("DELETE", path)).status).toBe(404);
  });

  it.each<[object, string[]]>([
    [{ x: 0, y: 0, w: 4 }, ["h"]],
    [{ h: 4 }, ["x"]],
    [{ x: 9, y: 0, w: 4, h: 4 }, ["w"]],
    [{ x: 0, y: 0, w: 4, h: 13 }, ["h"]],
    [{ x: 0.5, y: 0, w: 4, h: 4 }, ["x"]],
  ])("are not moved by %j", async (body, path) => {
    const { id, widgetId } = await makeDashboard(system, owner);
    const answer = await send("PATCH", `/dashboards/${id}/widgets/${widgetId}`, body);
    expect(answer.status).toBe(400);
    expect(answer.error?.details).toContainEqual(expect.objectContaining({ path }));
  });
});

describe("saving a layout", () => {
  it("closes gaps, resolves overlaps, and changes nothing but places", async () => {
    const { id, widgets, at, path } = await createWithThree();
    const before = await read(id);
    const requestId = `layout-${newUuid()}`;
    const saved = await system.call("PUT", path, {
      ...owner,
      headers: { ...owner.headers, "x-request-id": requestId },
      body: {
        widgets: [
          at(2, { x: 0, y: 9_007_199_254_740_979, w: 12, config: { source: "moon" } }),
          at(1, { x: 2, y: 6, w: 6, h: 8 }),
          at(0, { x: 0, y: 5 }),
        ],
      },
    });
    expect(saved.status).toBe(200);
    const { widgets: places, updatedAt } = layout.parse(saved.data);
    expect(places).toEqual([
      at(0),
      at(1, { x: 2, y: 4, w: 6, h: 8 }),
      at(2, { x: 0, y: 12, w: 12 }),
    ]);
    const after = await read(id);
    expect(after.updatedAt).toBe(updatedAt);
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    expect(after.widgets.map(contentOf)).toEqual(before.widgets.map(contentOf));
    expect(await auditOf(system, requestId)).toMatchObject([
      {
        action: "dashboard.layout_updated",
        resourceType: "dashboard",
        resourceId: id,
        actor: { type: "user" },
        changes: { widgets: { modified: widgets.slice(1).map((each) => each.id) } },
      },
    ]);
  });

  type Sent = (at: (index: number, more?: object) => object) => unknown;
  it.each<[string, Sent, number]>([
    ["x over 11", (at) => [at(0, { x: 12, w: 1 }), at(1), at(2)], 400],
    ["a negative x", (at) => [at(0, { x: -1 }), at(1), at(2)], 400],
    ["a negative y", (at) => [at(0), at(1, { y: -1 }), at(2)], 400],
    ["y beyond its bound", (at) => [at(0), at(1, { y: 9_007_199_254_740_980 }), at(2)], 400],
    ["y beyond exact numbers", (at) => [at(0), at(1, { y: 2 ** 53 }), at(2)], 400],
    ["no width", (at) => [at(0, { w: 0 }), at(1), at(2)], 400],
    ["no height", (at) => [at(0, { h: 0 }), at(1), at(2)], 400],
    ["a height of 13", (at) => [at(0, { h: 13 }), at(1), at(2)], 400],
    ["one that juts out", (at) => [at(0, { x: 9, w: 4 }), at(1), at(2)], 400],
    ["a fraction", (at) => [at(0, { y: 1.5 }), at(1), at(2)], 400],
    ["a text for a number", (at) => [at(0, { y: "1" }), at(1), at(2)], 400],
    ["a missing number", (at) => [at(0, { y: undefined }), at(1), at(2)], 400],
    ["an id twice", (at) => [at(0), at(1), at(2), at(0)], 400],
    ["an id twice, in other letters", (at) => [at(0), at(1), at(2), upper(at(0))], 400],
    ["an unknown id", (at) => [at(0), at(1), at(2), at(0, { id: newUuid() })], 400],
    ["an id of no form", (at) => [at(0), at(1), at(2), at(0, { id: "x" })], 400],
    ["an unknown id in place of another", (at) => [at(0), at(1), at(2, { id: newUuid() })], 400],
    ["41 entries", (at) => Array.from({ length: 41 }, () => at(0)), 400],
    ["no list", () => ({}), 400],
    ["a widget left out", (at) => [at(0), at(2)], 409],
    ["all left out", () => [], 409],
  ])("is refused with %s, and saves nothing", async (_what, sent, status) => {
    const { id, at, path } = await createWithThree();
    const before = await read(id);
    const requestId = `refused-${newUuid()}`;
    const answer = await system.call("PUT", path, {
      ...owner,
      headers: { ...owner.headers, "x-request-id": requestId },
      body: { widgets: sent(at) },
    });
    const code = status === 409 ? "CONFLICT" : "BAD_REQUEST";
    expect(answer).toMatchObject({ status, error: { code } });
    expect(await read(id)).toEqual(before);
    expect(await auditOf(system, requestId)).toEqual([]);
  });

  const upper = (entry: object) => {
    const { id, ...rest } = z.looseObject({ id: z.string() }).parse(entry);
    return { ...rest, id: id.toUpperCase() };
  };

  it("names the widgets that were left out", async () => {
    const { at, path, widgets } = await createWithThree();
    expect(await send("PUT", path, { widgets: [at(1)] })).toMatchObject({
      error: { details: { widgetIds: [widgets[0]?.id, widgets[2]?.id] } },
    });
  });

  it("refuses a widget of another dashboard", async () => {
    const other = await makeDashboard(system, owner);
    const { at, path } = await createWithThree();
    const body = { widgets: [at(0), at(1), at(2), at(0, { id: other.widgetId })] };
    expect((await send("PUT", path, body)).status).toBe(400);
  });

  it("takes an empty one for an empty dashboard", async () => {
    const id = await create();
    const saved = await send("PUT", `/dashboards/${id}/layout`, { widgets: [] });
    expect(saved).toMatchObject({ status: 200, data: { widgets: [] } });
  });

  it("answers 413 above 1 MiB, and 400 to a large one below", async () => {
    const { path } = await createWithThree();
    const widgets = Array.from({ length: 3_000 }, () => ({ id: newUuid() }));
    expect((await send("PUT", path, { widgets })).status).toBe(400);
    const pad = "x".repeat(1024 * 1024);
    expect(await send("PUT", path, { widgets, pad })).toMatchObject({
      status: 413,
      error: { code: "PAYLOAD_TOO_LARGE" },
    });
  });

  it("is all of one save or all of another when several come at once", async () => {
    const { id, at, path } = await createWithThree();
    const orders = [
      [at(0, { w: 12, y: 0 }), at(1, { x: 0, w: 12, y: 4 }), at(2, { x: 0, w: 12, y: 8 })],
      [at(2, { x: 0, w: 12, y: 0 }), at(1, { x: 0, w: 12, y: 4 }), at(0, { w: 12, y: 8 })],
    ];
    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((order) => send("PUT", path, { widgets: orders[order] })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { widgets } = await read(id);
    expect(orders).toContainEqual(widgets.map(placeOf));
  });
});

describe("the data of a widget", () => {
  const dataOf = async (config: object) => {
    const id = await create();
    const made = await add(id, { type: "line", config });
    return system.call("GET", `/dashboards/${id}/widgets/${made.id}/data`);
  };

  it("counts runs by status and time, with success rate and durations", async () => {
    const good = await createActive(system);
    const bad = await createActive(system, { steps: [failing("call")] });
    for (const workflowId of [good, good, bad]) await runToEnd(system, workflowId);
    const all = await dataOf({ source: "runs", triggerType: "api", periodMs: 3_600_000 });
    expect(all).toMatchObject({
      status: 200,
      data: {
        source: "runs",
        bucketMs: 60_000,
        total: {
          count: 3,
          byStatus: { completed: 2, failed: 1 },
          successRate: 2 / 3,
          durationMs: { p50: expect.any(Number), p95: expect.any(Number) },
        },
      },
    });
    const { buckets } = z
      .looseObject({ buckets: z.array(z.looseObject({ count: z.number() })) })
      .parse(all.data);
    expect(buckets).toHaveLength(60);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    const one = await dataOf({ source: "runs", workflowId: bad });
    expect(one.data).toMatchObject({ total: { count: 1, successRate: 0 }, bucketMs: 21_600_000 });
    const none = await dataOf({ source: "runs", workflowId: newUuid() });
    expect(none.data).toMatchObject({ total: { count: 0, successRate: null, durationMs: null } });
  });

  it("is read with workflows:read alone", async () => {
    const { id, widgetId } = await makeDashboard(system, owner);
    const key = await system.createKey(system.acme, ["workflows:read"]);
    const path = `/dashboards/${id}/widgets/${widgetId}/data`;
    expect((await system.call("GET", path, { key })).status).toBe(200);
    const other = await system.createKey(system.acme, ["runs:read"]);
    expect((await system.call("GET", path, { key: other })).status).toBe(403);
  });

  it("is refused where there is none", async () => {
    expect(await dataOf({ text: "Read me" })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    expect(await dataOf({ source: "table", tableId: newUuid() })).toMatchObject({
      status: 400,
      error: { code: "NOT_CONFIGURED" },
    });
  });
});
