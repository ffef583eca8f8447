import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { auditOf } from "../support/audit-log.ts";
import {
  contentOf,
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

describe("saving a layout", () => {
  it("closes gaps, resolves overlaps, and changes nothing but places", async () => {
    const { id, widgets, at, path } = await board.createWithThree();
    const before = await board.read(id);
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
    const after = await board.read(id);
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
    const { id, at, path } = await board.createWithThree();
    const before = await board.read(id);
    const requestId = `refused-${newUuid()}`;
    const answer = await system.call("PUT", path, {
      ...owner,
      headers: { ...owner.headers, "x-request-id": requestId },
      body: { widgets: sent(at) },
    });
    const code = status === 409 ? "CONFLICT" : "BAD_REQUEST";
    expect(answer).toMatchObject({ status, error: { code } });
    expect(await board.read(id)).toEqual(before);
    expect(await auditOf(system, requestId)).toEqual([]);
  });

  const upper = (entry: object) => {
    const { id, ...rest } = z.looseObject({ id: z.string() }).parse(entry);
    return { ...rest, id: id.toUpperCase() };
  };

  it("names the widgets that were left out", async () => {
    const { at, path, widgets } = await board.createWithThree();
    expect(await board.send("PUT", path, { widgets: [at(1)] })).toMatchObject({
      error: { details: { widgetIds: [widgets[0]?.id, widgets[2]?.id] } },
    });
  });

  it("refuses a widget of another dashboard", async () => {
    const other = await makeDashboard(system, owner);
    const { at, path } = await board.createWithThree();
    const body = { widgets: [at(0), at(1), at(2), at(0, { id: other.widgetId })] };
    expect((await board.send("PUT", path, body)).status).toBe(400);
  });

  it("takes an empty one for an empty dashboard", async () => {
    const id = await board.create();
    const saved = await board.send("PUT", `/dashboards/${id}/layout`, { widgets: [] });
    expect(saved).toMatchObject({ status: 200, data: { widgets: [] } });
  });

  it("answers 413 above 1 MiB, and 400 to a large one below", async () => {
    const { path } = await board.createWithThree();
    const widgets = Array.from({ length: 3_000 }, () => ({ id: newUuid() }));
    expect((await board.send("PUT", path, { widgets })).status).toBe(400);
    const pad = "x".repeat(1024 * 1024);
    expect(await board.send("PUT", path, { widgets, pad })).toMatchObject({
      status: 413,
      error: { code: "PAYLOAD_TOO_LARGE" },
    });
  });

  it("is all of one save or all of another when several come at once", async () => {
    const { id, at, path } = await board.createWithThree();
    const orders = [
      [at(0, { w: 12, y: 0 }), at(1, { x: 0, w: 12, y: 4 }), at(2, { x: 0, w: 12, y: 8 })],
      [at(2, { x: 0, w: 12, y: 0 }), at(1, { x: 0, w: 12, y: 4 }), at(0, { w: 12, y: 8 })],
    ];
    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((order) => board.send("PUT", path, { widgets: orders[order] })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { widgets } = await board.read(id);
    expect(orders).toContainEqual(widgets.map(placeOf));
  });
});
