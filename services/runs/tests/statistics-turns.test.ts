import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const modest = testIdentity();
/** One is read and 100 wait. */
const TAKEN = 101;
const BEYOND = 9;

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness({ role: "api" });
});
afterAll(() => harness.close());

const request = {
  workflowId: newUuid(),
  triggerType: 0,
  from: new Date("2026-03-01T00:00:00Z"),
  to: new Date("2026-03-02T00:00:00Z"),
  bucketMs: 3_600_000,
} as const;
const count = sql.type(z.object({ count: z.number() }));

describe("statistics of a company that asks for many at the same time", () => {
  it("wait for each other and not for another company's, and those beyond a limit are refused", async () => {
    const { identity, stats } = harness;
    const answers: string[] = [];
    const ask = (company: string, caller = identity): Promise<unknown> =>
      stats.getRunStats(request, { identity: caller, timeoutMs: 60_000 }).then(
        () => answers.push(company),
        (error: unknown) => error,
      );
    const { greedy, other } = await harness.database.transaction(async (transaction) => {
      // Nobody can read statistics meanwhile.
      await transaction.query(
        sql.type(z.object({}))`lock table runs.runs in access exclusive mode`,
      );
      const asked = Array.from({ length: TAKEN + BEYOND }, () => ask("greedy"));
      const refused = await Promise.race(asked);
      expect(refused).toMatchObject({
        reason: "RATE_LIMITED",
        details: { limit: "statistics" },
      });
      const waiting = ask("modest", modest);
      await waitFor(
        async () => {
          const reading = await transaction.oneFirst(count`
            select count(*)::integer as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'
          `);
          return reading === 2;
        },
        { what: "one query of each company to be under way" },
      );
      return { greedy: asked, other: waiting };
    });
    await other;
    const outcomes = await Promise.all(greedy);
    expect(outcomes.filter((outcome) => typeof outcome !== "number")).toHaveLength(BEYOND);
    expect(answers).toHaveLength(TAKEN + 1);
    expect(answers.indexOf("modest")).toBeLessThan(10);
  });
});
