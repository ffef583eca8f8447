import type { Database } from "@workflow/db";
import { idTimestamp, newId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { RunFacts } from "../domain/run-facts.ts";
import { isTerminal } from "../domain/run-status.ts";
import { LeaseLostError } from "../interpreter/unwinding.ts";
import { StepError } from "../interpreter/step-error.ts";
import { findChildOfStep, insertChild } from "../store/child-runs.ts";
import type { ChildRow, NewChild } from "../store/child-runs.ts";
import { findHead } from "../store/deployments.ts";
import { lockLiveRun } from "../store/run-approvals.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";
import type { Deployment, DeploymentCache } from "./deployment-cache.ts";

/** What a step starts. */
export interface ChildCommand {
  /** Which attempt of which step of the parent: it starts one child, however often it is tried. */
  step: string;
  workflowId: string;
  /** JSON text of an object, and the same parsed. */
  input: string;
  inputValue: unknown;
  waits: boolean;
}

/** The execution's side of child runs (D17). */
export interface ChildRuns {
  /** The child of a step's attempt; null when it was not started. */
  find(parentRunId: string, step: string): Promise<ChildRow | null>;
  /**
   * Starts the child of a step's attempt, unless that was done before.
   *
   * @throws StepError when the workflow cannot be started with this input
   * @throws LeaseLostError when the parent has ended meanwhile
   */
  start(parent: RunFacts, command: ChildCommand): Promise<ChildRow>;
  /** Cancels the child of a step's attempt, and the runs that it waits for in turn. */
  cancel(parent: RunFacts, step: string): Promise<void>;
}

/** What child runs are made of. */
export interface ChildRunsOptions {
  database: Database;
  deployments: DeploymentCache;
  runtime: TaskRuntime;
  /** Cancels a run that has not ended, and the runs that it waits for. */
  cancelRun: (runId: string) => Promise<void>;
}

/** How many runs may be above one (D17). */
const DEPTH_MAX = 25;
/** A start is overtaken by a change of the deployment at most so often before it gives up. */
const OVERTAKEN_MAX = 5;

/** @see ChildRuns */
export function createChildRuns(options: ChildRunsOptions): ChildRuns {
  const { database, deployments, runtime } = options;

  const activeDeployment = async (companyId: string, workflowId: string): Promise<Deployment> => {
    const head = await findHead(database, companyId, workflowId);
    if (head === null) {
      throw refused("CHILD_NOT_FOUND", `There is no deployed workflow ${workflowId}.`);
    }
    if (head.status !== "active" || head.deployment_id === null) {
      const message = `The workflow ${workflowId} is ${head.status}, not active.`;
      throw refused("CHILD_NOT_ACTIVE", message, { currentStatus: head.status });
    }
    const deployment = (await deployments.getMany([head.deployment_id])).get(head.deployment_id);
    if (deployment?.compiled === undefined || deployment.compiled === null) {
      throw new Error("a deployment head names nothing that can be executed");
    }
    return deployment;
  };

  const insert = async (child: NewChild): Promise<boolean> => {
    const inserted = await database.transaction(async (transaction) => {
      if (!(await lockLiveRun(transaction, child.parentRunId))) throw new LeaseLostError();
      const id = await insertChild(transaction, child);
      if (id === null) return false;
      await runtime.dispatch(transaction, [id]);
      return true;
    });
    if (inserted) runtime.dispatched(1);
    return inserted;
  };

  return {
    find: (parentRunId, step) => findChildOfStep(database, parentRunId, step),
    async start(parent, command) {
      for (let attempt = 0; attempt < OVERTAKEN_MAX; attempt++) {
        const known = await findChildOfStep(database, parent.id, command.step);
        if (known !== null) return known;
        if (parent.depth >= DEPTH_MAX) {
          const message = `Workflows call each other at most ${DEPTH_MAX} deep.`;
          throw refused("CHILD_TOO_DEEP", message);
        }
        const deployment = await activeDeployment(parent.companyId, command.workflowId);
        refuseInput(deployment, command.inputValue);
        const child = newChild(parent, command, deployment, runtime);
        if (await insert(child)) {
          return { id: child.id, status: "pending", output: null, error: null };
        }
      }
      throw new AppError("UNAVAILABLE", "The workflow is being changed; try again.");
    },
    async cancel(parent, step) {
      const child = await findChildOfStep(database, parent.id, step);
      if (child === null || isTerminal(child.status)) return;
      await options.cancelRun(child.id);
    },
  };
}

function newChild(
  parent: RunFacts,
  command: ChildCommand,
  deployment: Deployment,
  runtime: TaskRuntime,
): NewChild {
  const id = newId("run_");
  return {
    id,
    companyId: parent.companyId,
    workflowId: deployment.workflowId,
    deploymentId: deployment.id,
    workflowVersion: deployment.version,
    input: command.input,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    requestId: parent.requestId,
    createdAt: idTimestamp(id),
    parentRunId: parent.id,
    parentStep: command.step,
    parentWaits: command.waits,
    depth: parent.depth + 1,
    triggerDepth: parent.triggerDepth,
  };
}

function refuseInput({ compiled }: Deployment, input: unknown): void {
  const violations: readonly Violation[] = compiled?.inputSchema?.validate(input) ?? [];
  if (violations.length === 0) return;
  const message = "The input does not fit the inputSchema of the workflow.";
  throw refused("CHILD_INPUT_INVALID", message, { violations });
}

function refused(code: string, message: string, details?: Record<string, unknown>): StepError {
  return new StepError(code, message, {
    retryable: false,
    ...(details === undefined ? {} : { details }),
  });
}
