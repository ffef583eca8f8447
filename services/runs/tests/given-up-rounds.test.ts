import { expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { inRounds } from "../src/operations/cancel-given-up.ts";
import { giveUpChild } from "../src/store/given-up-runs.ts";
import { mapping, startRunsHarness } from "./support/runs-harness.ts";

it("a thousand runs that are given up at once are cancelled in one round after another, not in a thousand", async () => {
  let rounds = 0;
  let atOnce = 0;
  let most = 0;
  const ask = inRounds(async () => {
    rounds += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
  });
  for (let count = 0; count < 1_000; count += 1) ask();
  await waitFor(() => rounds === 2 && atOnce === 0);
  ask();
  await waitFor(() => rounds === 3 && atOnce === 0);
  expect(most).toBe(1);
});

it("a child that is given up is found by an index, whatever other runs are live", async () => {
  const harness = await startRunsHarness({ role: "api" });
  try {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    for (let count = 0; count < 10; count += 1) await harness.start(workflowId);
    const { read } = await harness.database.transaction(async (transaction) => {
      // So few rows would be read by a sequential scan.
      await transaction.query(sql.type(z.object({}))`set local enable_seqscan = off`);
      await giveUpChild(transaction, newId("run_"), "call:1");
      return transaction.one(sql.type(z.object({ read: z.number() }))`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
        from pg_stat_xact_user_tables
        where schemaname = 'runs' and relname ~ '^runs_(first|[0-9])'
      `);
    });
    expect(read).toBe(0);
  } finally {
    await harness.close();
  }
});
