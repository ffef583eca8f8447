import { Turns } from "@workflow/async";
import { isAppError } from "@workflow/errors";
import type { AppError, FailureCode } from "@workflow/errors";
import { findActiveDeployment, inactiveMessage } from "../deployments/active-deployment.ts";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import { findInputViolations } from "../deployments/input-violations.ts";
import type { ChildRun } from "../domain/child-run.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { tooManyDescendants } from "../domain/start-fault.ts";
import { StepError } from "../domain/step-error.ts";
import type { ChildCommand, ChildRuns } from "../interpreter/effects/child-runs.ts";
import { LeaseLostError } from "../journal/lease-lost-error.ts";
import type { Backlog } from "../starting/backlog.ts";
import { newRun } from "../starting/new-run.ts";
import type { NewRunFacts } from "../starting/new-run.ts";
import { startInTransaction } from "../starting/start-in-transaction.ts";
import type { StoringContext } from "../starting/start-in-transaction.ts";
import { OvertakenError, untilStored } from "../starting/until-stored.ts";
import { findChildOfStep, lockAcquiredRun } from "../store/child-runs.ts";
import { giveUpChild } from "../store/given-up-runs.ts";
import { growFamily } from "../store/run-families.ts";
import type { NewRun } from "../store/start-runs.ts";

/** What is needed to start child runs. */
export interface ChildRunsOptions extends StoringContext {
  deployments: DeploymentCache;
  backlog: Backlog;
  /** How many runs may descend from one (D60). */
  descendantsMax: number;
  /**
   * How long a step waits until the company has room for another pending run, in milliseconds; 10 minutes
   * by default.
   */
  waitMs?: number | undefined;
  /** Called when a parent has given children up, so that they get cancelled. */
  onGivenUp: () => void;
}

/** How many runs may be above one (D17). */
const DEPTH_MAX = 25;
/** After this time the step fails, so that somebody notices. */
const WAIT_MS = 10 * 60_000;
/**
 * Starts in one family of runs wait for each other in the database, and the others must still find
 * connections.
 */
const STARTS = { total: 4, perTenant: 2 };

/** @see ChildRuns */
export function createChildRuns(options: ChildRunsOptions): ChildRuns {
  const { database, backlog, waitMs = WAIT_MS } = options;
  const turns = new Turns(STARTS);
  const never = new AbortController().signal;

  const startOnce = async (
    parent: RunFacts,
    command: ChildCommand,
    waitedMs: number,
  ): Promise<ChildRun | "later"> => {
    const known = await findChildOfStep(database, parent.id, command.step);
    if (known !== null) return known;
    if (parent.depth >= DEPTH_MAX) {
      const message = `Workflows call each other at most ${DEPTH_MAX} deep.`;
      throw refused("CHILD_TOO_DEEP", message);
    }
    const deployment = await requireStartable(options, parent, command);
    const fullness = await findFullness(backlog, parent.companyId);
    if (fullness !== null) {
      if (waitedMs < waitMs) return "later";
      throw new StepError("RATE_LIMITED", fullness.message, { details: { limit: "backlog" } });
    }
    const child = newRun(options.runtime, deployment, childFacts(parent, command));
    await storeChild(options, parent, child);
    return { id: child.id, status: "pending", output: null, error: null };
  };

  return {
    find: (parentRunId, step) => findChildOfStep(database, parentRunId, step),
    async start(parent, command, waitedMs) {
      const end = await turns.take(parent.companyId, never);
      try {
        const started = await untilStored(() => startOnce(parent, command, waitedMs));
        return started === "later" ? null : started;
      } finally {
        end();
      }
    },
    giveUp: (parent, step) => ({
      write: (transaction) => giveUpChild(transaction, parent.id, step),
      committed: options.onGivenUp,
    }),
  };
}

/** The reason why the company can have no more pending runs; null when it can. */
async function findFullness(backlog: Backlog, companyId: string): Promise<AppError | null> {
  try {
    await backlog.admit(companyId);
    return null;
  } catch (error) {
    if (isAppError(error) && error.reason === "RATE_LIMITED") return error;
    throw error;
  }
}

/** Stores a child and counts it. Whatever stops the store undoes the count, too. */
async function storeChild(
  options: ChildRunsOptions,
  parent: RunFacts,
  child: NewRun,
): Promise<void> {
  const { descendantsMax: max } = options;
  const { companyId, rootRunId } = child;
  if (rootRunId === null) throw new Error("a child descends from no run");
  await startInTransaction(options, async (transaction, starting) => {
    const hasRoom = await growFamily(transaction, { rootRunId, companyId, by: 1, max });
    if (!hasRoom) throw refused("RUN_TOO_MANY_CHILDREN", tooManyDescendants(max), { rootRunId });
    // The family's row comes first, since others may hold its lock: whoever writes the parent waits for
    // this lock.
    if (!(await lockAcquiredRun(transaction, parent.id, parent.epoch))) throw new LeaseLostError();
    const stored = await starting.insert([child]);
    if (!stored.has(child.id)) throw new OvertakenError();
  });
}

/** The deployment that the child executes. */
async function requireStartable(
  options: ChildRunsOptions,
  { companyId }: RunFacts,
  { workflowId, inputValue }: ChildCommand,
): Promise<Deployment> {
  const found = await findActiveDeployment(options, companyId, workflowId);
  if (found.kind === "unknown") {
    throw refused("CHILD_NOT_FOUND", `There is no deployed workflow ${workflowId}.`);
  }
  if (found.kind === "inactive") {
    const message = inactiveMessage(`The workflow ${workflowId}`, found.status);
    throw refused("CHILD_NOT_ACTIVE", message, { currentStatus: found.status });
  }
  const violations = findInputViolations(found.deployment, inputValue);
  if (violations.length === 0) return found.deployment;
  const message = "The input does not fit the inputSchema of the workflow.";
  throw refused("CHILD_INPUT_INVALID", message, { violations });
}

function childFacts(parent: RunFacts, command: ChildCommand): NewRunFacts {
  return {
    triggerType: "api",
    triggerData: JSON.stringify({ parentRunId: parent.id }),
    triggerDepth: parent.triggerDepth,
    input: command.input,
    requestId: parent.requestId,
    traceparent: parent.traceparent,
    rootRunId: parent.rootRunId ?? parent.id,
    parent: {
      runId: parent.id,
      step: command.step,
      waits: command.waits,
      depth: parent.depth + 1,
    },
  };
}

function refused(code: FailureCode, message: string, details?: Record<string, unknown>): StepError {
  return new StepError(code, message, {
    retryable: false,
    ...(details === undefined ? {} : { details }),
  });
}
