import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { expression, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const sizeRow = z.object({
  path: z.string(),
  inputBytes: z.number(),
  outputBytes: z.number(),
  reused: z.boolean(),
});

const listSizes = (runId: string) =>
  harness.database.any(sql.type(sizeRow)`
    select path, input_bytes as "inputBytes", output_bytes as "outputBytes", reused
    from runs.step_results where run_id = ${runId} order by seq
  `);

it("stores with each result how many bytes callers see of its input and its output", async () => {
  const workflowId = await harness.deploy([
    mapping("ascii", { text: "abc" }),
    mapping("wide", "Grüße, 世界 🙂\n\u0001\u007f"),
    mapping("nothing", null),
    mapping("skipped", 1, { when: { left: 1, operator: "equals", right: 2 } }),
    expression("fails", '$error("no")'),
  ]);
  const run = await harness.runToEnd(workflowId);
  const expected = run.stepResults.map(({ path, inputJson, outputJson }) => ({
    path,
    inputBytes: Buffer.byteLength(inputJson ?? ""),
    outputBytes: Buffer.byteLength(outputJson ?? ""),
    reused: false,
  }));
  expect(expected.map(({ path }) => path)).toContain("fails");
  expect(expected.some(({ outputBytes }) => outputBytes === 0)).toBe(true);
  expect(await listSizes(run.id)).toEqual(expected);
});

it("keeps the sizes of results that a retry takes over, those of old rows included", async () => {
  const workflowId = await harness.deploy([
    mapping("new", "é"),
    mapping("old", { text: "é" }),
    expression("fails", '$error("no")'),
  ]);
  const run = await harness.runToEnd(workflowId);
  const before = await listSizes(run.id);
  await harness.database.query(sql.type(z.object({}))`
    update runs.step_results set input_bytes = null, output_bytes = null
    where run_id = ${run.id} and path = 'old'
  `);
  const { identity, runs } = harness;
  const { run: repeated } = await runs.retryRun({ runId: run.id }, { identity });
  const again = await harness.waitForEnd(repeated?.id ?? "");
  const kept = before.filter(({ path }) => path !== "fails");
  expect((await listSizes(again.id)).filter(({ reused }) => reused)).toEqual(
    kept.map((each) => ({ ...each, reused: true })),
  );
});
