import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import {
  dashboardsOf,
  layout,
  makeDashboard,
  placeOf,
  signInEditor,
} from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let owner: SignedIn;
let board: ReturnType<typeof dashboardsOf>;
beforeAll(async () => {
  system = await startWholeSystem();
  owner = await signInEditor(system, system.acme);
  board = dashboardsOf(system, owner);
});
afterAll(() => system.stop());

describe("widgets", () => {
  it("are put where there is room, with the size asked for, wherever they were wanted", async () => {
    const id = await board.create();
    const wanted = { x: 7, y: -3, id: "mine" };
    expect(await board.add(id, wanted)).toMatchObject({ x: 0, y: 0, w: 4, h: 4 });
    expect(await board.add(id, { width: 6, height: 8, y: "low" })).toMatchObject({
      x: 4,
      y: 0,
      w: 6,
      h: 8,
    });
    expect(await board.add(id, { w: 12, h: 4 })).toMatchObject({ x: 0, y: 8, w: 12, h: 4 });
    expect(await board.add(id)).toMatchObject({ x: 0, y: 4 });
    expect((await board.read(id)).widgets).toHaveLength(4);
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
    [
      "one bucket too many",
      { config: { source: "runs", periodMs: 500 * 60_000, bucketMs: 60_000 } },
      ["config", "bucketMs"],
    ],
  ])("are refused with %s", async (_what, body, path) => {
    const id = await board.create();
    const answer = await board.send("POST", `/dashboards/${id}/widgets`, { type: "line", ...body });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path }] },
    });
  });

  it("are at most 40, also when more are added at once", async () => {
    const id = await board.create();
    for (let count = 0; count < 35; count += 1) await board.add(id, { w: 4, h: 4 });
    const path = `/dashboards/${id}/widgets`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => board.send("POST", path, { type: "text" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
    const { widgets } = await board.read(id);
    expect(widgets).toHaveLength(40);
    const same = widgets.map(placeOf);
    const saved = await board.send("PUT", `/dashboards/${id}/layout`, { widgets: same });
    expect(layout.parse(saved.data).widgets).toEqual(same);
  });

  it("keep what a change does not mention, members of their config too", async () => {
    const id = await board.create();
    const config = { source: "runs", workflowId: newUuid(), color: "red", __proto__x: 1 };
    const made = await board.add(id, { title: "All", config, refresh: { intervalMs: 5_000 } });
    const path = `/dashboards/${id}/widgets/${made.id}`;
    const changed = await board.send("PATCH", path, {
      config: { color: "blue", workflowId: null },
    });
    const { layout: _layout, ...after } = z.looseObject({ layout }).parse(changed.data);
    expect(after).toEqual({
      ...made,
      config: { source: "runs", color: "blue", __proto__x: 1 },
    });
    const moved = await board.send("PATCH", path, { x: 8, y: 30, w: 4, h: 8 });
    expect(moved.data).toMatchObject({ ...after, x: 8, y: 0, w: 4, h: 8 });
    expect(await board.send("PATCH", path, { config: { source: "moon" } })).toMatchObject({
      status: 400,
    });
  });

  it("keep their config as JavaScript reads it (D5)", async () => {
    const id = await board.create();
    const path = `/dashboards/${id}/widgets`;
    const addRaw = (config: string) =>
      system.call("POST", path, { ...owner, raw: `{"type":"text","config":${config}}` });
    const added = await addRaw(
      '{"a":1,"a":2,"n":12345678901234567890,"z":-0,"__proto__":{"x":1.0}}',
    );
    expect(added.status).toBe(201);
    const { text } = await system.call("GET", `/dashboards/${id}`);
    expect(text).toContain('{"a":2,"n":12345678901234567000,"z":0,"__proto__":{"x":1}}');
    expect(await addRaw('{"deep":[{"n":1e999}]}')).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["config", "deep", "0", "n"] }] },
    });
    const { id: widgetId } = z.looseObject({ id: z.string() }).parse(added.data);
    const changed = await system.call("PATCH", `${path}/${widgetId}`, {
      ...owner,
      raw: '{"config":{"n":1e999}}',
    });
    expect(changed).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["config", "n"] }] },
    });
  });

  it("are moved by a whole position; what lies in the way moves down and gaps close", async () => {
    const { id, widgets, at } = await board.createWithThree();
    const [first, second, third] = widgets.map((each) => each.id);
    const path = `/dashboards/${id}/widgets/${third}`;
    const moved = await board.send("PATCH", path, { x: 0, y: 0, w: 8, h: 4 });
    expect(z.looseObject({ layout }).parse(moved.data).layout.widgets).toEqual([
      { id: third, x: 0, y: 0, w: 8, h: 4 },
      at(0, { y: 4 }),
      at(1, { y: 4 }),
    ]);
    const removed = await board.send("DELETE", path);
    expect(z.looseObject({ layout }).parse(removed.data).layout.widgets).toEqual([at(0), at(1)]);
    expect((await board.read(id)).widgets.map((each) => each.id)).toEqual([first, second]);
    expect((await board.send("DELETE", path)).status).toBe(404);
  });

  it.each<[object, string[]]>([
    [{ x: 0, y: 0, w: 4 }, ["h"]],
    [{ h: 4 }, ["x"]],
    [{ x: 9, y: 0, w: 4, h: 4 }, ["w"]],
    [{ x: 0, y: 0, w: 4, h: 13 }, ["h"]],
    [{ x: 0.5, y: 0, w: 4, h: 4 }, ["x"]],
  ])("are not moved by %j", async (body, path) => {
    const { id, widgetId } = await makeDashboard(system, owner);
    const answer = await board.send("PATCH", `/dashboards/${id}/widgets/${widgetId}`, body);
    expect(answer.status).toBe(400);
    expect(answer.error?.details).toContainEqual(expect.objectContaining({ path }));
  });
});
