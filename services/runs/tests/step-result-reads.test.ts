import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import type { Identity } from "@workflow/rpc";
import { mapping, repeat, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { MIB, documentOf, runWithSizes, evenly, sizesOf } from "./support/sized-results.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const listSteps = (
  runId: string,
  { limit = 0, cursor = "", bytesMax = 0 } = {},
  identity: Identity = harness.identity,
) => harness.runs.listRunSteps({ runId, page: { limit, cursor }, bytesMax }, { identity });

const getStep = (
  runId: string,
  path: string,
  { bytesMax = 0, identity = harness.identity }: { bytesMax?: number; identity?: Identity } = {},
) => harness.runs.getRunStep({ runId, path, bytesMax }, { identity });

describe("ListRunSteps", () => {
  it("pages through the results in execution order", async () => {
    const run = await runWithSizes(harness, evenly(7, 10));
    const { stepResults } = await harness.get(run.id);
    const all: StepResult[] = [];
    const lengths: number[] = [];
    let cursor = "";
    do {
      const { results, page } = await listSteps(run.id, { limit: 3, cursor });
      all.push(...results);
      lengths.push(results.length);
      cursor = page?.cursor ?? "";
      expect(page?.hasMore).toBe(cursor !== "");
    } while (cursor !== "");
    expect(lengths).toEqual([3, 3, 1]);
    expect(all).toEqual(stepResults);
    const { results, page } = await listSteps(run.id, { limit: 7 });
    expect(results).toEqual(stepResults);
    expect(page).toEqual({ cursor: "", hasMore: false });
  });

  it("holds at most 8 MiB a page, from the page's beginning", async () => {
    const { id } = await runWithSizes(harness, evenly(5, 3 * MIB));
    const first = await listSteps(id, { limit: 3 });
    const whole = `0+${3 * MIB}`;
    expect(sizesOf(first.results)).toEqual([whole, whole, `(0+${3 * MIB})`]);
    const second = await listSteps(id, { limit: 3, cursor: first.page?.cursor ?? "" });
    expect(sizesOf(second.results)).toEqual([whole, whole]);
  });

  it("holds less when it is told to, and never more", async () => {
    const { id } = await runWithSizes(harness, evenly(2, 5 * MIB));
    expect(sizesOf((await listSteps(id, { bytesMax: 10 })).results)[0]).toBe(`(0+${5 * MIB})`);
    expect(sizesOf((await listSteps(id, { bytesMax: 100 * MIB })).results)).toEqual([
      `0+${5 * MIB}`,
      `(0+${5 * MIB})`,
    ]);
  });

  it("refuses limits that are none and cursors that are not of this list", async () => {
    const [{ id }, other] = [
      await runWithSizes(harness, evenly(3, 10)),
      await runWithSizes(harness, evenly(3, 10)),
    ];
    const cursor = (await listSteps(id, { limit: 1 })).page?.cursor ?? "";
    for (const [runId, page] of [
      [id, { limit: -1 }],
      [id, { limit: 101 }],
      [id, { bytesMax: -1 }],
      [id, { cursor: "x" }],
      [id, { cursor: `${cursor}A` }],
      [other.id, { cursor }],
    ] as const) {
      await expect(listSteps(runId, page)).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    }
    const stranger = testIdentity();
    await expect(listSteps(id, { cursor }, stranger)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
    });
  });

  it("is NOT_FOUND for a run that is unknown or another company's", async () => {
    const { id } = await runWithSizes(harness, evenly(1, 10));
    const notFound = { reason: "NOT_FOUND", message: "Run not found" };
    await expect(listSteps(newId("run_"))).rejects.toMatchObject(notFound);
    await expect(listSteps("run_' or 1=1")).rejects.toMatchObject(notFound);
    await expect(listSteps(id, {}, testIdentity())).rejects.toMatchObject(notFound);
  });
});

describe("GetRunStep", () => {
  it("gives a result whole, with 4 MiB of input and 4 MiB of output", async () => {
    const { id } = await runWithSizes(harness, [
      { inputBytes: 4 * MIB, outputBytes: 4 * MIB },
      { inputBytes: 4 * MIB, outputBytes: 4 * MIB },
    ]);
    for (const path of ["s0", "s1"]) {
      const result = await getStep(id, path);
      expect(sizesOf([result])).toEqual([`${4 * MIB}+${4 * MIB}`]);
      expect(result.outputJson).toBe(documentOf(4 * MIB));
    }
    expect(sizesOf([await getStep(id, "s1", { bytesMax: 1_000 })])).toEqual([
      `(${4 * MIB}+${4 * MIB})`,
    ]);
  });

  it("finds nested results by their path", async () => {
    const inner = repeat("inner", { count: 2 }, [mapping("child", "{{loop.index}}")]);
    const run = await harness.runToEnd(
      await harness.deploy([repeat("outer", { count: 3 }, [inner])]),
    );
    const path = "outer[2].inner[1].child";
    const expected = run.stepResults.find((result) => result.path === path);
    expect(expected).toMatchObject({ outputJson: "1" });
    expect(await getStep(run.id, path)).toEqual(expected);
  });

  it("is NOT_FOUND for what is unknown or another company's", async () => {
    const { id } = await runWithSizes(harness, evenly(1, 10));
    const notFound = { reason: "NOT_FOUND", message: "Step result not found" };
    for (const path of ["s1", "s0.", "S0", "", "s0\0", "\ud800", "s".repeat(100_000), "%"]) {
      await expect(getStep(id, path)).rejects.toMatchObject(notFound);
    }
    await expect(getStep(newId("run_"), "s0")).rejects.toMatchObject(notFound);
    await expect(getStep("run_x", "s0")).rejects.toMatchObject(notFound);
    const identity = testIdentity();
    await expect(getStep(id, "s0", { identity })).rejects.toMatchObject(notFound);
    expect(await getStep(id, "s0")).toMatchObject({ path: "s0" });
  });
});
