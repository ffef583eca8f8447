import type { Database } from "@workflow/db";
import type { OpenStep } from "../domain/step-records.ts";
import type { RunHistory } from "../journal/run-history.ts";
import { NO_OUTPUT, SMALL_OUTPUT_BYTES, StepOutput } from "../journal/step-outputs.ts";
import { StepResults } from "../journal/step-results.ts";
import type { StepResult } from "../journal/step-results.ts";
import { listOpenSteps, listResultHeads } from "../store/load-history.ts";

/** The history of a run that has done nothing yet. */
export function emptyHistory(): RunHistory {
  return { results: new StepResults(), open: new Map(), nextSeq: 1 };
}

/**
 * Loads what earlier executions of runs have written, with two queries: how each step ended and how large
 * its output is. The outputs themselves are read when a step needs them (D56).
 */
export async function loadHistories(
  database: Database,
  runIds: readonly string[],
): Promise<Map<string, RunHistory>> {
  const [heads, open] = await Promise.all([
    listResultHeads(database, runIds, SMALL_OUTPUT_BYTES),
    listOpenSteps(database, runIds),
  ]);
  const headsByRun = Map.groupBy(heads, ({ runId }) => runId);
  const openByRun = Map.groupBy(open, ({ runId }) => runId);
  return new Map(
    runIds.map((runId) => [
      runId,
      toHistory(headsByRun.get(runId) ?? [], openByRun.get(runId) ?? []),
    ]),
  );
}

type HeadRow = Awaited<ReturnType<typeof listResultHeads>>[number];
type OpenRow = Awaited<ReturnType<typeof listOpenSteps>>[number];

function toHistory(heads: readonly HeadRow[], waiting: readonly OpenRow[]): RunHistory {
  let highest = 0;
  for (const { seq } of heads) highest = Math.max(highest, seq);
  for (const { seq } of waiting) highest = Math.max(highest, seq);
  return {
    results: new StepResults(heads.map(toResult)),
    open: new Map(waiting.map((step) => [step.path, toOpenStep(step)])),
    nextSeq: highest + 1,
  };
}

function toResult(head: HeadRow): StepResult {
  const { path, stepId, status, error, inputBytes, outputBytes } = head;
  return { path, stepId, status, error, output: outputOf(head), bytes: inputBytes + outputBytes };
}

function outputOf({ path, outputBytes, smallOutput }: HeadRow): StepOutput {
  if (outputBytes === 0) return NO_OUTPUT;
  if (smallOutput === null) return new StepOutput(path, { bytes: outputBytes }, null);
  const size = { bytes: outputBytes, chars: smallOutput.length };
  return new StepOutput(path, size, { value: JSON.parse(smallOutput) });
}

function toOpenStep(row: OpenRow): OpenStep {
  return {
    path: row.path,
    seq: row.seq,
    startedAt: row.startedAt,
    dueAt: row.dueAt,
    hasTurn: row.hasTurn,
    deadlineAt: row.deadlineAt,
    attempt: row.attempt,
    attemptGroup: row.attemptGroup,
    previousAttempts: row.previousAttempts ?? [],
  };
}
