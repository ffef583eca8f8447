import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { dashboardsOf, makeDashboard, signInEditor } from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { createActive, failing, runToEnd } from "../support/scenarios.ts";
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

describe("the data of a widget", () => {
  const dataOf = async (config: object) => {
    const id = await board.create();
    const made = await board.add(id, { type: "line", config });
    return system.call("GET", `/dashboards/${id}/widgets/${made.id}/data`);
  };

  it("counts runs by status and time, with success rate and durations", async () => {
    const good = await createActive(system);
    const bad = await createActive(system, { steps: [failing("call")] });
    for (const workflowId of [good, good, bad]) await runToEnd(system, workflowId);
    const asked = Date.now();
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
    const { buckets, from, to } = z
      .looseObject({
        buckets: z.array(z.looseObject({ count: z.number() })),
        from: z.coerce.date(),
        to: z.coerce.date(),
      })
      .parse(all.data);
    // Whole minutes, and the whole of the last hour in them.
    expect(buckets).toHaveLength(61);
    expect(from.getTime()).toBeLessThanOrEqual(asked - 3_600_000);
    expect(to.getTime()).toBeGreaterThanOrEqual(asked);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    const one = await dataOf({ source: "runs", workflowId: bad });
    expect(one.data).toMatchObject({ total: { count: 1, successRate: 0 }, bucketMs: 21_600_000 });
    const none = await dataOf({ source: "runs", workflowId: newUuid() });
    expect(none.data).toMatchObject({ total: { count: 0, successRate: null, durationMs: null } });
  });

  it("has the whole period also where the buckets are as many and as long as they may be", async () => {
    const longest = 366 * 86_400_000;
    for (const [periodMs, bucketMs] of [
      [499 * 60_000, 60_000],
      [longest, longest],
    ] as const) {
      const asked = Date.now();
      const { status, data } = await dataOf({ source: "runs", periodMs, bucketMs });
      expect(status).toBe(200);
      const { from } = z.looseObject({ from: z.coerce.date() }).parse(data);
      expect(from.getTime()).toBeLessThanOrEqual(asked - periodMs);
    }
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
  });
});
