import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { GetRunStepRequest, StepResult } from "@workflow/proto/runs/v1/steps";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findStep } from "../store/read-steps.ts";
import type { StepRow } from "../store/read-steps.ts";
import { SMALL_BYTES } from "./read-run.ts";
import { notNegative } from "./list-run-steps.ts";
import { toStepMessage } from "./run-message.ts";

/** More than any step result may have. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Returns one step result whole. */
export function getRunStep(context: ServiceContext): UnaryMethod<GetRunStepRequest, StepResult> {
  const { database, readings } = context;
  return rpc({
    scopes: "runs:read",
    async handler({ runId, path, bytesMax }, { identity: { companyId }, signal }) {
      if (bytesMax < 0) throw notNegative();
      const documentsMax = bytesMax === 0 ? UNBOUNDED : bytesMax;
      const isName = isId("run_", runId) && isStorableText(path);
      const read = async (most: number): Promise<StepRow> => {
        const bounds = { documentsMax: most, notesMax: UNBOUNDED };
        const row = isName ? await findStep(database, { companyId, runId, path }, bounds) : null;
        if (row === null) throw new AppError("NOT_FOUND", "Step result not found");
        return row;
      };
      const small = await read(Math.min(documentsMax, SMALL_BYTES));
      const bytes = small.inputBytes + small.outputBytes;
      if (small.documentsFit || bytes > documentsMax) return toStepMessage(small);
      const leave = await readings.take(companyId, bytes, signal);
      try {
        return toStepMessage(await read(documentsMax));
      } finally {
        leave();
      }
    },
  });
}
