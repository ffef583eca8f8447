import { AppError } from "@workflow/errors";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { GetRunRequest } from "@workflow/proto/runs/v1/runs";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import type { StepRow } from "../store/read-steps.ts";
import { readPieces, runNotFound } from "./read-run.ts";
import { toRunMessage, toStepMessage } from "./run-message.ts";

/**
 * Below the limit of a message (64 MiB), since only the documents are measured and the rest is estimated.
 */
const ANSWER_BYTES_MAX = 48 * 1024 * 1024;
/** Bytes of one step result's ids, times and numbers. */
const STEP_BYTES = 100;

/** Returns one run with its step results. */
export function getRun(context: ServiceContext): UnaryMethod<GetRunRequest, Run> {
  return rpc({
    scopes: "runs:read",
    async handler({ runId }, { identity, signal }) {
      let run: Run | null = null;
      const results: StepResult[] = [];
      let bytes = 0;
      for await (const piece of readPieces(context, identity.companyId, runId, signal)) {
        if (piece.kind === "run") run = toRunMessage(piece.run);
        else {
          for (const step of piece.steps) results.push(toStepMessage(step));
          bytes += piece.steps.reduce((sum, step) => sum + bytesOf(step), 0);
          if (bytes > ANSWER_BYTES_MAX) throw tooLarge();
        }
      }
      if (run === null) throw runNotFound();
      return { ...run, stepResults: results };
    },
  });
}

function bytesOf(step: StepRow): number {
  const documents = step.documentsFit ? step.inputBytes + step.outputBytes : 0;
  return STEP_BYTES + step.path.length + documents + (step.notesFit ? step.noteBytes : 0);
}

function tooLarge(): AppError {
  const message = "The run is too large for one answer. Use ReadRun or ListRunSteps.";
  return new AppError("PAYLOAD_TOO_LARGE", message);
}
