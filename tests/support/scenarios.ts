import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { Answer, CallOptions } from "./api-client.ts";
import type { WholeSystem } from "./whole-system.ts";

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const runId = z.string().regex(/^run_[0-9a-hjkmnp-tv-z]{26}$/);
const executionError = z.strictObject({
  code: z.string(),
  message: z.string().min(1),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** A workflow with the fields of the contract; `steps` may be anything (see the tests). */
export const workflowSchema = z.strictObject({
  id: uuid,
  name: z.string(),
  description: z.string().optional(),
  status: z.enum(["draft", "active", "paused", "archived"]),
  version: z.int().min(1),
  trigger: z.record(z.string(), z.unknown()),
  steps: z.array(z.unknown()),
  inputSchema: z.record(z.string(), z.unknown()).nullable(),
  outputSchema: z.record(z.string(), z.unknown()).nullable(),
  settings: z.record(z.string(), z.unknown()).nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/** A step result (D26). */
const stepResultSchema = z.strictObject({
  stepId: z.string(),
  path: z.string(),
  type: z.string(),
  status: z.enum(["success", "error", "skipped"]),
  startedAt: timestamp,
  completedAt: timestamp,
  durationMs: z.int().min(0),
  input: z.unknown(),
  output: z.unknown(),
  error: executionError.nullable(),
  attempt: z.int().min(1),
  previousAttempts: z
    .array(z.strictObject({ attempt: z.int().min(1), startedAt: timestamp, error: executionError }))
    .optional(),
  reused: z.literal(true).optional(),
  truncated: z.literal(true).optional(),
  inputBytes: z.int().min(0).optional(),
  outputBytes: z.int().min(0).optional(),
});

/** A run in lists, with these fields and no others. */
export const runListItemSchema = z.strictObject({
  id: runId,
  workflowId: uuid,
  workflowVersion: z.int().min(1),
  status: z.enum([
    "pending",
    "running",
    "waiting_approval",
    "completed",
    "failed",
    "cancelled",
    "suspended",
    "timeout",
  ]),
  triggerType: z.enum(["api", "webhook", "schedule", "manual", "table"]),
  startedAt: timestamp.nullable(),
  completedAt: timestamp.nullable(),
  createdAt: timestamp,
  durationMs: z.int().min(0).nullable(),
  error: executionError.nullable(),
  restartedFromRunId: runId.optional(),
});

/** A run in full. */
export const runSchema = runListItemSchema.extend({
  triggerRuntimeRunId: z.string().min(1).nullable(),
  input: z.unknown(),
  output: z.unknown(),
  stepResults: z.array(stepResultSchema),
});

/** The data of GET /runs/{id}/logs. */
export const runLogsSchema = z.strictObject({
  runId,
  workflowId: uuid,
  triggerRuntimeRunId: z.string().min(1).nullable(),
  status: runListItemSchema.shape.status,
  logs: z.array(stepResultSchema),
  startedAt: timestamp.nullable(),
  completedAt: timestamp.nullable(),
  durationMs: z.int().min(0).nullable(),
  error: executionError.nullable(),
});

const startedSchema = z.looseObject({ run_id: runId });

export type Workflow = z.output<typeof workflowSchema>;
export type Run = z.output<typeof runSchema>;
export type RunListItem = z.output<typeof runListItemSchema>;
export type RunStatus = Run["status"];

const ENDED: readonly RunStatus[] = ["completed", "failed", "cancelled", "timeout"];
/** A run of a thousand calls takes more than a minute on a busy machine. */
const RUN_DEADLINE_MS = 120_000;

/** A transform that returns its mapping. */
export function transform(id: string, mapping: unknown): Record<string, unknown> {
  return { id, type: "transform", name: id, config: { mapping } };
}

/** A delay step. */
export function delay(id: string, durationMs: unknown): Record<string, unknown> {
  return { id, type: "delay", name: id, config: { durationMs } };
}

/** A step that fails at once: port 1 of this machine has no server. */
export function failing(id: string): Record<string, unknown> {
  return {
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "GET", url: "http://127.0.0.1:1/" },
  };
}

/** The body of a workflow that runs, with changes. */
export function workflowBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: "Greeting",
    trigger: { type: "api" },
    steps: [transform("greet", { text: "Hello {{input.name}}" })],
    ...changes,
  };
}

/** Creates a workflow and returns it. */
export async function createWorkflow(
  system: WholeSystem,
  changes: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<Workflow> {
  const body = workflowBody(changes);
  const answer = await system.call("POST", "/workflows", { body, ...options });
  expect(answer).toMatchObject({ status: 201, error: undefined });
  return workflowSchema.parse(answer.data);
}

/** Creates a workflow, activates it and returns its id. */
export async function createActive(
  system: WholeSystem,
  changes: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<string> {
  const { id } = await createWorkflow(system, changes, options);
  await change(system, id, "activate", options);
  return id;
}

/** Creates a workflow and brings it into a status. */
export async function createInStatus(
  system: WholeSystem,
  status: Workflow["status"],
  changes: Record<string, unknown> = {},
): Promise<string> {
  const { id } = await createWorkflow(system, changes);
  if (status === "active" || status === "paused") await change(system, id, "activate");
  if (status === "paused") await change(system, id, "pause");
  if (status === "archived") {
    expect(await system.call("DELETE", `/workflows/${id}`)).toMatchObject({ status: 200 });
  }
  return id;
}

async function change(
  system: WholeSystem,
  id: string,
  verb: "activate" | "pause",
  options: CallOptions = {},
): Promise<void> {
  const answer = await system.call("POST", `/workflows/${id}/${verb}`, options);
  expect(answer).toMatchObject({ status: 200, error: undefined });
}

/** Reads a workflow. */
export async function getWorkflow(system: WholeSystem, id: string): Promise<Workflow> {
  const answer = await system.call("GET", `/workflows/${id}`);
  expect(answer.status).toBe(200);
  return workflowSchema.parse(answer.data);
}

/** Starts a run by POST /workflows/{id}/run; the answer may be a refusal. */
export function postRun(
  system: WholeSystem,
  workflowId: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  return system.call("POST", `/workflows/${workflowId}/run`, { body, ...options });
}

/** Starts a run and returns its id. */
export async function startRun(
  system: WholeSystem,
  workflowId: string,
  input: unknown = {},
): Promise<string> {
  const answer = await postRun(system, workflowId, { input });
  expect(answer).toMatchObject({ status: 202, error: undefined });
  return runIdOf(answer);
}

/** The id of the run in an answer. */
export function runIdOf(answer: Answer): string {
  return startedSchema.parse(answer.data).run_id;
}

/** Reads a run. */
export async function getRun(
  system: WholeSystem,
  id: string,
  options: CallOptions = {},
): Promise<Run> {
  const answer = await system.call("GET", `/runs/${id}`, options);
  expect(answer.status).toBe(200);
  return runSchema.parse(answer.data);
}

/** A page of runs: of `/runs` or of `/workflows/{id}/runs`, with a query. */
export async function listRuns(
  system: WholeSystem,
  path: string,
): Promise<{ items: RunListItem[]; cursor: string | null; hasMore: boolean }> {
  const answer = await system.call("GET", path);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  if (answer.meta === undefined) throw new Error("A list has meta.");
  return { items: z.array(runListItemSchema).parse(answer.data), ...answer.meta };
}

/** The id of a workflow's newest run, as soon as there is one. */
export function waitForFirstRun(system: WholeSystem, workflowId: string): Promise<string> {
  return waitFor(
    async () => (await listRuns(system, `/workflows/${workflowId}/runs`)).items[0]?.id ?? null,
    { what: `a run of workflow ${workflowId}` },
  );
}

/** Waits until a run has one of the statuses, by default until its end; returns the run. */
export function waitForRun(
  system: WholeSystem,
  id: string,
  statuses: readonly RunStatus[] = ENDED,
  options: CallOptions = {},
): Promise<Run> {
  const wanted = async (): Promise<Run> => {
    const run = await getRun(system, id, options);
    if (!statuses.includes(run.status)) throw new Error(`The run is ${run.status}.`);
    return run;
  };
  return waitFor(wanted, {
    timeoutMs: RUN_DEADLINE_MS,
    intervalMs: 25,
    what: `run ${id} to be ${statuses.join(" or ")}`,
  });
}

/** Starts a run, waits for its end and returns it. */
export async function runToEnd(
  system: WholeSystem,
  workflowId: string,
  input: unknown = {},
): Promise<Run> {
  return waitForRun(system, await startRun(system, workflowId, input));
}
