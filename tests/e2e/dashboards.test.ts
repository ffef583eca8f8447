import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { dashboard, dashboardsOf, makeDashboard, signInEditor } from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { bySession, signIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let owner: SignedIn;
let colleague: SignedIn;
let board: ReturnType<typeof dashboardsOf>;
beforeAll(async () => {
  system = await startWholeSystem();
  owner = await signInEditor(system, system.acme);
  colleague = await signInEditor(system, system.acme);
  board = dashboardsOf(system, owner);
});
afterAll(() => system.stop());

describe("a dashboard", () => {
  it("is created, read, changed and deleted by its owner", async () => {
    const made = await board.send("POST", "/dashboards", {
      name: "Runs",
      description: "All of them",
    });
    expect(made.status).toBe(201);
    const { id } = dashboard.parse(made.data);
    expect(await board.read(id)).toMatchObject({
      name: "Runs",
      description: "All of them",
      widgets: [],
    });
    const changed = await board.send("PATCH", `/dashboards/${id}`, { name: "Runs 2" });
    expect(changed.data).toMatchObject({ name: "Runs 2", description: "All of them" });
    const cleared = await board.send("PATCH", `/dashboards/${id}`, { description: null });
    expect(dashboard.parse(cleared.data).description).toBeUndefined();
    expect(await board.send("DELETE", `/dashboards/${id}`)).toMatchObject({
      status: 200,
      data: { deleted: true },
    });
    expect((await system.call("GET", `/dashboards/${id}`)).status).toBe(404);
    expect((await board.send("DELETE", `/dashboards/${id}`)).status).toBe(404);
  });

  it.each([{}, { name: "" }, { name: "x".repeat(256) }, { name: 7 }])(
    "is not created from %j",
    async (body) => {
      expect(await board.send("POST", "/dashboards", body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
      });
    },
  );

  it("is listed to the whole company, newest first, page by page", async () => {
    const ids = [await board.create("a"), await board.create("b"), await board.create("c")];
    const first = await system.call("GET", "/dashboards?limit=2");
    expect(first.data).toMatchObject([{ id: ids[2] }, { id: ids[1] }]);
    const next = await board.send(
      "GET",
      `/dashboards?limit=2&cursor=${first.meta?.cursor}`,
      undefined,
    );
    // Other tests have made some, too.
    expect(next.data).toMatchObject({ 0: { id: ids[0] } });
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
    const before = await board.read(id);
    const viewer = bySession(
      system,
      await signIn(system, await system.createPerson(system.acme, "viewer")),
    );
    const key = { key: system.acme.key, headers: {} };
    for (const [method, path, body] of changes(id, widgetId)) {
      expect(await board.send(method, path, body, colleague)).toMatchObject({
        status: 404,
        error: { code: "NOT_FOUND", message: "Dashboard not found" },
      });
      for (const who of [viewer, key]) {
        expect(await board.send(method, path, body, who)).toMatchObject({
          status: 403,
          error: { code: "FORBIDDEN" },
        });
      }
    }
    for (const who of [colleague, viewer, key]) {
      expect((await board.send("GET", `/dashboards/${id}`, undefined, who)).data).toEqual(before);
    }
  });

  it("answers 403 to a key before it looks at the body", async () => {
    const answer = await system.call("PUT", `/dashboards/${newUuid()}/layout`, { body: {} });
    expect(answer.status).toBe(403);
  });
});
