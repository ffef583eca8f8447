import type { EventEnvelope } from "@workflow/events";
import type { RunPayload } from "@workflow/proto/runs/v1/run_events";
import { z } from "zod";

/** The data of the events of runs. */
const runData = z.object({
  workflowId: z.string(),
  workflowName: z.string(),
  runId: z.string(),
  status: z.string(),
  triggerType: z.string(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  error: z
    .object({ code: z.string(), message: z.string(), stepId: z.string().nullable() })
    .optional(),
});

/** The events of runs that endpoints can receive (contract). */
const RUN_EVENTS: ReadonlySet<string> = new Set([
  "workflow.started",
  "workflow.completed",
  "workflow.failed",
  "workflow.timeout",
  "workflow.cancelled",
  "workflow.checkpoint",
]);

/** Whether endpoints can receive run events of this type. */
export function isRunEvent(type: string): boolean {
  return RUN_EVENTS.has(type);
}

/**
 * The run of an event, and its workflow.
 *
 * @throws ZodError for data that is not of a run
 */
export function runOf({ data }: EventEnvelope): { workflowId: string; runId: string } {
  const { workflowId, runId } = runData.parse(data);
  return { workflowId, runId };
}

/**
 * The body of a run's event: the members of the contract in its order, with documents as stored text. A
 * payload that is too large is replaced by its address (D64).
 *
 * @param publicUrl the public address of the gateway; null when it is unknown
 */
export function renderRunEvent(
  envelope: EventEnvelope,
  payload: RunPayload | null,
  publicUrl: string | null,
): string {
  const { id, type, timestamp, companyId } = envelope;
  const { error, ...run } = runData.parse(envelope.data);
  const head = {
    id,
    type,
    timestamp,
    workflowId: run.workflowId,
    workflowName: run.workflowName,
    runId: run.runId,
    companyId,
    status: run.status,
    triggerType: run.triggerType,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
    durationMs: run.durationMs,
  };
  const isTruncated = payload?.tooLarge ?? false;
  const input = orNull(payload?.inputJson);
  // The run may have ended since this event.
  const output = run.completedAt === null ? "null" : orNull(payload?.outputJson);
  const tail = {
    ...(error === undefined ? {} : { error }),
    ...(isTruncated ? { truncated: true, runUrl: runUrl(publicUrl, run.runId) } : {}),
  };
  const rest = JSON.stringify(tail).slice(1, -1);
  // Input and output are inserted as text: parsing could change numbers and keys.
  const parts = [JSON.stringify(head).slice(1, -1), `"input":${input}`, `"output":${output}`];
  return `{${[...parts, ...(rest === "" ? [] : [rest])].join(",")}}`;
}

/** The body of an event that is not about a run. */
export function renderOtherEvent(envelope: EventEnvelope): string {
  const { id, type, timestamp, companyId, data } = envelope;
  return JSON.stringify({ id, type, timestamp, companyId, ...data });
}

function orNull(json: string | undefined): string {
  return json === undefined || json === "" ? "null" : json;
}

function runUrl(publicUrl: string | null, runId: string): string {
  return `${publicUrl ?? ""}/api/v1/runs/${runId}`;
}
