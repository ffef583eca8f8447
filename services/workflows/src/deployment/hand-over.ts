import { setTimeout as delay } from "node:timers/promises";
import { backoffMs, sleep } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";
import { findHandOver } from "../store/deployments.ts";
import type { WorkflowKey } from "../store/workflow-row.ts";
import { HandOverRefused, pushDeployment } from "./push-deployment.ts";
import type { PushDependencies, PushOptions } from "./push-deployment.ts";
import { activationRefused } from "./refusal.ts";

/**
 * Hands over what a request has just committed; see `createHandOver`. With the revision that it made
 * executable, the request also hears of it when another one found that refused.
 */
export type HandOver = (
  key: WorkflowKey,
  context: RpcContext,
  madeActive?: number,
) => Promise<void>;

/** Failed attempts are repeated for this long. */
const RETRY_FOR_MS = 5_000;
/**
 * A slow attempt gets a second one beside it after this time; the second one may reach another replica. At
 * the same interval the request checks whether the repair loop was quicker.
 */
const SECOND_ATTEMPT_MS = 2_000;
/** Kept from the caller's own deadline, so that our answer still reaches it. */
const ANSWER_MARGIN_MS = 250;

/** In place of a revision: the request has withdrawn a workflow, which is never refused. */
const NOTHING = Number.POSITIVE_INFINITY;

const BACKOFF = { firstMs: 50, maxMs: 800 } as const;

const RETRY_AFTER_MS = 1_000;

/**
 * The hand-over of a request: returns once the execution plane has the workflow's newest state. When
 * the execution plane cannot be reached in time, the caller gets UNAVAILABLE. The change is committed all
 * the same, and the repair loop, which is woken at once, hands it over. When the execution plane refuses
 * for good, the caller gets VALIDATION_ERROR: an activation is reverted, another change is not executed.
 *
 * An attempt may use all the time that the caller has left. Cutting and repeating slow attempts would make
 * a busy execution plane slower (ADR 68).
 */
export function createHandOver(dependencies: PushDependencies, wakeRepair: () => void): HandOver {
  return async (key, context, madeActive = NOTHING) => {
    const { signal, requestId, traceparent, log } = context;
    const deadline = new Date(context.deadline.getTime() - ANSWER_MARGIN_MS);
    const giveUpAt = Math.min(Date.now() + RETRY_FOR_MS, deadline.getTime());
    for (let failures = 1; ; failures += 1) {
      const pauseMs = backoffMs(failures, BACKOFF);
      try {
        const options = { deadline, signal, requestId, traceparent };
        const refused = await pushOrLearn(dependencies, key, options);
        if (refused !== null && refused >= madeActive) throw refusedBefore();
        return;
      } catch (error) {
        if (error instanceof HandOverRefused) {
          log.warn({ err: error.cause, workflowId: key.workflowId }, "a hand-over was refused");
          wakeRepair();
          if (error.executedRevision >= madeActive) return;
          if (madeActive !== NOTHING) throw error.cause;
        }
        const canWait = Date.now() + pauseMs < giveUpAt && !signal.aborted;
        if (!canWait) {
          wakeRepair();
          log.warn({ err: error, workflowId: key.workflowId }, "hand-over left to the repair loop");
          throw notHandedOverYet(error);
        }
      }
      // An abort ends the pause early; the next attempt then fails at once.
      await sleep(pauseMs, signal);
    }
  };
}

/**
 * Pushes the state. When that is slow, it pushes once more beside the first push, which may have reached a
 * stuck replica. Meanwhile it checks whether the repair loop has handed the state over.
 *
 * @returns the newest revision that the execution plane has refused; null when there is none
 * @throws what `pushDeployment` throws
 */
async function pushOrLearn(
  dependencies: PushDependencies,
  key: WorkflowKey,
  options: PushOptions,
): Promise<number | null> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const push = () => pushDeployment(dependencies, key, { ...options, signal });
  const pushLater = async (): Promise<number | null> => {
    await delay(SECOND_ATTEMPT_MS, undefined, { signal });
    return push();
  };
  try {
    return await Promise.race([
      push(),
      pushLater(),
      untilKnown(dependencies.database, key, signal),
    ]);
  } finally {
    over.abort();
  }
}

async function untilKnown(
  database: Database,
  key: WorkflowKey,
  signal: AbortSignal,
): Promise<number | null> {
  for (;;) {
    await delay(SECOND_ATTEMPT_MS, undefined, { signal });
    const handOver = await findHandOver(database, key);
    if (handOver?.isDue === false) return handOver.refusedRevision;
  }
}

/** The refusal when another request, or the repair loop, was quicker and has the reasons. */
function refusedBefore(): HandOverRefused {
  const cause = new AppError("BAD_REQUEST", "The deployment cannot be executed.");
  return new HandOverRefused(activationRefused(cause), 0);
}

function notHandedOverYet(cause: unknown): AppError {
  return new AppError(
    "UNAVAILABLE",
    "The change is recorded, but the execution plane could not be reached yet. It will take effect by itself.",
    { retryAfterMs: RETRY_AFTER_MS, cause },
  );
}
