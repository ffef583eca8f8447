import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { ListRunStepsRequest, ListRunStepsResponse } from "@workflow/proto/runs/v1/steps";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { READING_BOUNDS } from "../operations/reading-budget.ts";
import { hasRun } from "../store/read-runs.ts";
import { listSteps } from "../store/read-steps.ts";
import { runNotFound, SMALL_BYTES } from "./read-run.ts";
import { parseLimit } from "./list-runs.ts";
import { toStepMessage } from "./run-message.ts";

/** Lists the step results of a run in execution order. */
export function listRunSteps(
  context: ServiceContext,
): UnaryMethod<ListRunStepsRequest, ListRunStepsResponse> {
  const { database, cursors, readings } = context;
  return rpc({
    scopes: "runs:read",
    async handler(request, { identity: { companyId }, signal }) {
      const { runId } = request;
      const limit = parseLimit(request.page?.limit ?? 0);
      const documentsMax = parseBytesMax(request.bytesMax);
      const binding = JSON.stringify(["run-steps", companyId, runId]);
      const cursor = request.page?.cursor ?? "";
      const after = cursor === "" ? -1 : Number(cursors.decode(binding, cursor)[0]);
      const exists = isId("run_", runId) && (await hasRun(database, companyId, runId));
      if (!exists) throw runNotFound();
      const read = (bytesMax: number) => {
        const bounds = { ...READING_BOUNDS, documentsMax: bytesMax };
        return listSteps(database, runId, { after, limit: limit + 1 }, bounds);
      };
      const small = await read(Math.min(documentsMax, SMALL_BYTES));
      const isWhole =
        documentsMax <= SMALL_BYTES || small.slice(0, limit).every((row) => row.documentsFit);
      const leave = isWhole ? null : await readings.take(companyId, documentsMax, signal);
      try {
        const rows = leave === null ? small : await read(documentsMax);
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        return {
          results: page.map(toStepMessage),
          page: {
            cursor: last === undefined ? "" : cursors.encode(binding, [String(last.seq)]),
            hasMore: last !== undefined,
          },
        };
      } finally {
        leave?.();
      }
    },
  });
}

function parseBytesMax(bytesMax: number): number {
  const { documentsMax } = READING_BOUNDS;
  if (bytesMax >= 0) return bytesMax === 0 ? documentsMax : Math.min(bytesMax, documentsMax);
  throw notNegative();
}

/** The error for a negative `bytes_max`. */
export function notNegative(): AppError {
  const message = "must not be negative";
  return new AppError("BAD_REQUEST", `bytesMax ${message}.`, {
    violations: [{ path: ["bytesMax"], message }],
  });
}
