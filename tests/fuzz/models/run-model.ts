import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { fc } from "@workflow/testkit/property-test";
import { z } from "zod";
import type { DrivenSystem } from "../../support/driven-system.ts";
import {
  createActive,
  delay,
  failing,
  getRun,
  runIdOf,
  transform,
  waitForRun,
} from "../../support/scenarios.ts";
import type { RunStatus } from "../../support/scenarios.ts";
import { send } from "../support/commands.ts";
import type { Action } from "../support/commands.ts";

/** What a run's second step does, and with that where the run comes to rest. */
type Kind = keyof typeof RESTS_AT;
const RESTS_AT = {
  completes: "completed",
  fails: "failed",
  sleeps: "suspended",
  asks: "waiting_approval",
} as const satisfies Record<string, RunStatus>;

interface ModelledRun {
  id: string;
  kind: Kind;
  status: RunStatus;
  /** Of one that asks. */
  approval: { id: string; isDecided: boolean } | null;
}

/** The runs of four workflows, one of each kind. */
export interface RunModel {
  workflows: Readonly<Record<Kind, string>>;
  runs: ModelledRun[];
}

const KINDS = ["completes", "fails", "sleeps", "asks"] as const satisfies readonly Kind[];
const ENDED: readonly RunStatus[] = ["completed", "failed", "cancelled", "timeout"];
const CAN_RETRY: readonly RunStatus[] = ["failed", "timeout"];
const CAN_RESTART: readonly RunStatus[] = ["completed", "failed", "timeout"];
/** More would only wait for runs of the same kinds. */
const RUNS_MAX = 5;

const restarted = z.looseObject({ originalRunId: z.string(), newRunId: z.string() });
const approvals = z.array(z.looseObject({ id: z.string() }));

/** Workflows that runs of every sequence belong to. */
export async function createWorkflows(system: DrivenSystem): Promise<RunModel["workflows"]> {
  const make = (step: object): Promise<string> =>
    createActive(system, { steps: [transform("first", 1), step] });
  const ask = { id: "second", type: "approval", name: "ask", config: { message: "Go on?" } };
  return {
    completes: await make(transform("second", 2)),
    fails: await make(failing("second")),
    sleeps: await make(delay("second", 600_000)),
    asks: await make(ask),
  };
}

const index = fc.nat({ max: RUNS_MAX - 1 });

/** Everything that is done to runs. */
export const RUN_ACTIONS: fc.Arbitrary<Action<RunModel>>[] = [
  fc.constantFrom(...KINDS).map((kind) => ({
    name: `start one that ${kind}`,
    when: ({ runs }) => runs.length < RUNS_MAX,
    run: start(kind),
  })),
  index.map((at) => onRun("cancel", at, cancel)),
  index.map((at) => onRun("retry", at, retry)),
  fc
    .tuple(index, fc.constantFrom("first", "second", "no-such"))
    .map(([at, step]) => onRun(`restart from ${step}`, at, restartFrom(step))),
  fc
    .tuple(index, fc.constantFrom("approved", "rejected"))
    .map(([at, decision]) => onRun(`decide ${decision}`, at, decide(decision))),
  index.map((at) => onRun("read", at, read)),
  index.map((at) => onRun("cancel in bulk", at, cancelInBulk)),
];

type OnRun = (run: ModelledRun, model: RunModel, system: DrivenSystem) => Promise<void>;

function onRun(what: string, at: number, act: OnRun): Action<RunModel> {
  return {
    name: `${what}, run ${at}`,
    when: ({ runs }) => at < runs.length,
    run: async (model, system) => {
      const run = model.runs[at];
      if (run !== undefined) await act(run, model, system);
    },
  };
}

function start(kind: Kind): Action<RunModel>["run"] {
  return async (model, system) => {
    const path = `/workflows/${model.workflows[kind]}/run`;
    const answer = await send(system, ["POST", path, { input: {} }], [202]);
    await add(model, system, runIdOf(answer), kind);
  };
}

/** Waits until a new run rests, and knows it from then on. */
async function add(model: RunModel, system: DrivenSystem, id: string, kind: Kind): Promise<void> {
  const status = RESTS_AT[kind];
  await waitForRun(system, id, [status]);
  const approval = kind === "asks" ? { id: await approvalOf(system, id), isDecided: false } : null;
  model.runs.push({ id, kind, status, approval });
}

function approvalOf(system: DrivenSystem, runId: string): Promise<string> {
  return waitFor(async () => {
    const { data } = await system.call("GET", `/runs/${runId}/approvals`);
    return approvals.parse(data)[0]?.id ?? null;
  });
}

async function cancel(run: ModelledRun, _model: RunModel, system: DrivenSystem): Promise<void> {
  const isOver = ENDED.includes(run.status);
  const expected = isOver ? ([400, "INVALID_STATE"] as const) : ([200] as const);
  await send(system, ["POST", `/runs/${run.id}/cancel`], expected);
  if (!isOver) run.status = "cancelled";
}

async function cancelInBulk(
  run: ModelledRun,
  model: RunModel,
  system: DrivenSystem,
): Promise<void> {
  const body = { action: "cancel", runIds: [run.id] };
  const { data } = await send(system, ["POST", "/runs/bulk", body], [200]);
  const isOver = ENDED.includes(run.status);
  const result = isOver ? { success: false, error: { code: "INVALID_STATE" } } : { success: true };
  expect(data).toMatchObject({ results: [{ runId: run.id, ...result }] });
  if (!isOver) run.status = "cancelled";
  await read(run, model, system);
}

async function retry(run: ModelledRun, model: RunModel, system: DrivenSystem): Promise<void> {
  const isAllowed = CAN_RETRY.includes(run.status);
  const expected = isAllowed ? ([202] as const) : ([400, "INVALID_STATE"] as const);
  const { data } = await send(system, ["POST", `/runs/${run.id}/retry`], expected);
  if (!isAllowed) return;
  expect(data).toMatchObject({ restartFromStepId: "second", status: "pending" });
  await addRestarted(run, model, system, data);
}

/** The outcome of a step that is done again is the same, for it does the same. */
async function addRestarted(
  run: ModelledRun,
  model: RunModel,
  system: DrivenSystem,
  data: unknown,
): Promise<void> {
  const { originalRunId, newRunId } = restarted.parse(data);
  expect(originalRunId).toBe(run.id);
  await add(model, system, newRunId, run.kind);
  expect(await getRun(system, newRunId)).toMatchObject({ restartedFromRunId: run.id });
}

function restartFrom(fromStepId: string): OnRun {
  return async (run, model, system) => {
    const isAllowed = CAN_RESTART.includes(run.status);
    const isKnown = fromStepId !== "no-such";
    const refusal = isAllowed
      ? ([400, "INVALID_STEP"] as const)
      : ([400, "INVALID_STATE"] as const);
    const isDone = isAllowed && isKnown;
    const request = ["POST", `/runs/${run.id}/restart`, { fromStepId }] as const;
    const { data } = await send(system, request, isDone ? [202] : refusal);
    if (isDone) await addRestarted(run, model, system, data);
  };
}

function decide(decision: "approved" | "rejected"): OnRun {
  return async (run, _model, system) => {
    if (run.approval === null) return;
    const { id, isDecided } = run.approval;
    const request = ["POST", `/runs/${run.id}/approvals/${id}`, { decision }] as const;
    const isWaiting = run.status === "waiting_approval" && !isDecided;
    await send(system, request, isWaiting ? [200] : [409, "CONFLICT"]);
    if (!isWaiting) return;
    run.approval.isDecided = true;
    run.status = decision === "approved" ? "completed" : "failed";
    await waitForRun(system, run.id, [run.status]);
  };
}

async function read(run: ModelledRun, _model: RunModel, system: DrivenSystem): Promise<void> {
  const { status, stepResults } = await getRun(system, run.id);
  expect(status).toBe(run.status);
  expect(stepResults[0]).toMatchObject({ stepId: "first", status: "success" });
}
