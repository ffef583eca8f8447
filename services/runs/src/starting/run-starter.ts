import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { findActiveDeployment, requireActive } from "../deployments/active-deployment.ts";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import { findInputViolations } from "../deployments/input-violations.ts";
import type { TriggerType } from "../domain/run-status.ts";
import { findKeyedRun } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { Backlog } from "./backlog.ts";
import { newRun } from "./new-run.ts";
import { StartBatcher } from "./start-batcher.ts";
import type { StoringContext } from "./start-in-transaction.ts";
import { untilStored } from "./until-stored.ts";

/** The command to start a run. */
export interface StartCommand {
  companyId: string;
  workflowId: string;
  triggerType: TriggerType;
  /** JSON text of an object. */
  input: string;
  /** The same, parsed. */
  inputValue: unknown;
  connectionId: string | null;
  idempotencyKey: string | null;
  /** The request that causes the run. */
  requestId: string;
  /** The traceparent of the request's span; null when that is not recorded. */
  traceparent: string | null;
  /** Whether the caller will wait for the run's end. */
  hasSyncWaiter: boolean;
}

/** The run that was started, or the earlier one that the idempotency key names. */
export type StartedRun =
  { existing: false; run: NewRun; deployment: Deployment } | { existing: true; runId: string };

/** The dependencies of starting. */
export interface RunStarterContext extends StoringContext {
  deployments: DeploymentCache;
  backlog: Backlog;
}

const ACTIVE_DEPLOYMENTS_MAX = 10_000;

/** Accepts runs on behalf of callers. Once `start` resolves, the run and its task are committed. */
export class RunStarter {
  readonly #context: RunStarterContext;
  readonly #batcher: StartBatcher;
  /**
   * The last known deployments of active workflows. The statement that inserts the run checks them again.
   */
  readonly #activeDeployments = new LRUCache<string, { companyId: string; deploymentId: string }>({
    max: ACTIVE_DEPLOYMENTS_MAX,
  });

  constructor(context: RunStarterContext) {
    this.#context = context;
    this.#batcher = new StartBatcher(context);
  }

  /** @throws AppError NOT_FOUND, WORKFLOW_NOT_ACTIVE, VALIDATION_ERROR, RATE_LIMITED, UNAVAILABLE */
  start(command: StartCommand): Promise<StartedRun> {
    return untilStored(() => this.#startOnce(command));
  }

  async #startOnce(command: StartCommand): Promise<StartedRun | null> {
    const cached = this.#findAccepting(command);
    // A key is looked up before the workflow's status and the input's schema are checked (D25). Where
    // both are known to be fine, the statement that stores the run looks it up.
    const known = cached === null ? await this.#findKeyed(command) : null;
    if (known !== null) return { existing: true, runId: known };
    const deployment = cached ?? (await this.#requireAccepting(command));
    const earlier = await this.#admit(command);
    if (earlier !== null) return { existing: true, runId: earlier };
    const run = newRun(this.#context.runtime, deployment, command);
    const outcome = await this.#batcher.store(run);
    if (outcome.kind === "existing") return { existing: true, runId: outcome.runId };
    if (outcome.kind === "stored") return { existing: false, run, deployment };
    this.#activeDeployments.delete(command.workflowId);
    return null;
  }

  /**
   * The run that a key has started already counts, however many runs are pending; null: a run may be
   * stored.
   */
  async #admit(command: StartCommand): Promise<string | null> {
    try {
      await this.#context.backlog.admit(command.companyId);
      return null;
    } catch (refusal) {
      const known = await this.#findKeyed(command);
      if (known === null) throw refusal;
      return known;
    }
  }

  /** Only the newest deployment may refuse an input; the one in memory may be older. */
  #findAccepting({ companyId, workflowId, inputValue }: StartCommand): Deployment | null {
    const active = this.#activeDeployments.get(workflowId);
    if (active?.companyId !== companyId) return null;
    const deployment = this.#context.deployments.peek(active.deploymentId);
    if (deployment === undefined) return null;
    return findInputViolations(deployment, inputValue).length === 0 ? deployment : null;
  }

  async #requireAccepting({
    companyId,
    workflowId,
    inputValue,
  }: StartCommand): Promise<Deployment> {
    const deployment = requireActive(
      await findActiveDeployment(this.#context, companyId, workflowId),
    );
    this.#activeDeployments.set(workflowId, { companyId, deploymentId: deployment.id });
    const violations = findInputViolations(deployment, inputValue);
    if (violations.length === 0) return deployment;
    throw new AppError("VALIDATION_ERROR", "The input does not fit the workflow's inputSchema.", {
      violations,
    });
  }

  async #findKeyed({
    companyId,
    workflowId,
    idempotencyKey,
  }: StartCommand): Promise<string | null> {
    if (idempotencyKey === null) return null;
    return findKeyedRun(this.#context.database, { companyId, workflowId, key: idempotencyKey });
  }
}
