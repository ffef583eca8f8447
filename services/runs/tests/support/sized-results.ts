import { expect } from "@jest/globals";
import { sql } from "@workflow/db";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import { z } from "zod";
import { mapping } from "./runs-harness.ts";
import type { RunsHarness } from "./runs-harness.ts";

/** Bytes of a mebibyte. */
export const MIB = 1024 * 1024;
/** The row of a statement that returns none. */
export const nothing = z.object({});

/** The sizes that the stored result of a step is given after its run; 0 for none. */
interface Sizes {
  inputBytes: number;
  outputBytes: number;
}

/** JSON text of this many bytes; most of its characters take two. */
export function documentOf(bytes: number): string | null {
  if (bytes === 0) return null;
  return JSON.stringify("ä".repeat((bytes - 2) / 2) + (bytes % 2 === 0 ? "" : "x"));
}

/** Gives the stored result of a step these sizes; `isOld` leaves its row without the columns of sizes. */
export async function resizeResult(
  harness: RunsHarness,
  runId: string,
  path: string,
  { inputBytes, outputBytes }: Sizes,
  { isOld = false } = {},
): Promise<void> {
  await harness.database.query(sql.type(nothing)`
    update runs.step_results
    set input = ${documentOf(inputBytes)}::json, output = ${documentOf(outputBytes)}::json,
      input_bytes = ${isOld ? null : inputBytes}, output_bytes = ${isOld ? null : outputBytes}
    where run_id = ${runId} and path = ${path}
  `);
}

/** A run that has ended, whose steps `s0`, `s1` … have results of these sizes. */
export async function runWithSizes(
  harness: RunsHarness,
  sizes: readonly Sizes[],
  options: { isOld?: boolean } = {},
): Promise<Run> {
  const steps = sizes.map((_size, index) => mapping(`s${index}`, index));
  const run = await harness.runToEnd(await harness.deploy(steps), { word: "given" });
  for (const [index, size] of sizes.entries()) {
    await resizeResult(harness, run.id, `s${index}`, size, options);
  }
  return run;
}

/** Sizes of `count` results without input. */
export const evenly = (count: number, bytes: number): Sizes[] =>
  Array.from({ length: count }, () => ({ inputBytes: 0, outputBytes: bytes }));

/** `input+output` in bytes of each result, in brackets where the answer leaves them out. */
export function sizesOf(results: readonly StepResult[]): string[] {
  return results.map(({ truncated, inputJson, outputJson, inputBytes, outputBytes }) => {
    if (!truncated) return `${bytesOf(inputJson)}+${bytesOf(outputJson)}`;
    expect([inputJson, outputJson]).toEqual([undefined, undefined]);
    return `(${inputBytes}+${outputBytes})`;
  });
}

/** The bytes of a JSON text; 0 for none. */
export function bytesOf(json: string | undefined): number {
  return json === undefined ? 0 : Buffer.byteLength(json);
}
