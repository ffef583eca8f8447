import type { Database } from "@workflow/db";
import { PastResults } from "../interpreter/past-results.ts";
import type { RunHistory } from "../interpreter/run-journal.ts";
import { listExecutableRuns, listOpenSteps, listPastResults } from "../store/load-runs.ts";
import type { ExecutableRow } from "../store/load-runs.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { OpenStep } from "./journal.ts";

/** A run and what earlier executions of it have written. */
export interface LoadedRun {
  row: ExecutableRow;
  history: RunHistory;
}

/** Loads runs with at most three queries, whatever their number. */
export async function loadRuns(
  database: Database,
  leases: readonly Lease[],
): Promise<Map<string, LoadedRun>> {
  const rows = await listExecutableRuns(
    database,
    leases.map((lease) => lease.runId),
  );
  // A run that repeats another one has results before it begins (D27).
  const begun = rows
    .filter((row) => row.started_at !== null || row.restarted_from_run_id !== null)
    .map((row) => row.id);
  const [results, open] =
    begun.length === 0
      ? [[], []]
      : await Promise.all([listPastResults(database, begun), listOpenSteps(database, begun)]);
  const resultsByRun = Map.groupBy(results, (result) => result.run_id);
  const openByRun = Map.groupBy(open, (step) => step.run_id);
  return new Map(
    rows.map((row) => {
      const past = resultsByRun.get(row.id) ?? [];
      const waiting = openByRun.get(row.id) ?? [];
      const seqs = [...past, ...waiting].map(({ seq }) => seq);
      const history: RunHistory = {
        results: new PastResults(
          past.map((result) => ({
            path: result.path,
            stepId: result.step_id,
            status: result.status,
            output: result.output === null ? null : JSON.parse(result.output),
            error: result.error,
          })),
        ),
        open: new Map(
          waiting.map((step): [string, OpenStep] => [
            step.path,
            {
              path: step.path,
              seq: step.seq,
              startedAt: step.started_at,
              dueAt: step.due_at,
              deadlineAt: step.deadline_at,
              attempt: step.attempt,
              attemptGroup: step.attempt_group,
              previousAttempts: step.previous_attempts ?? [],
            },
          ]),
        ),
        nextSeq: seqs.reduce((highest, seq) => Math.max(highest, seq), 0) + 1,
        // A worker that died was executing the run all the while.
        activeMs:
          row.active_ms +
          (row.active_since === null ? 0 : Math.max(0, Date.now() - row.active_since.getTime())),
      };
      return [row.id, { row, history }];
    }),
  );
}
