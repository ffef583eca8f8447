import { bodySchema, prefixedId, TIMESTAMP, UUID } from "./event-type.ts";
import type { EventType } from "./event-type.ts";

const STARTED_AT = "2026-01-31T08:00:00.120Z";
const ENDED_AT = "2026-01-31T08:00:02.345Z";

/** The parts of a run's event in which the types differ. */
interface RunEvent {
  type: string;
  description: string;
  /** The status of the run at the time of the event. */
  status: string;
  hasEnded?: boolean;
  hasOutput?: boolean;
  hasError?: boolean;
  hasStep?: boolean;
}

const RUN_EVENTS: readonly RunEvent[] = [
  { type: "workflow.started", description: "A run began.", status: "running" },
  {
    type: "workflow.checkpoint",
    description: "A long-running workflow reached a checkpoint.",
    status: "running",
    hasStep: true,
  },
  {
    type: "workflow.completed",
    description: "A run completed successfully.",
    status: "completed",
    hasEnded: true,
    hasOutput: true,
  },
  {
    type: "workflow.failed",
    description: "A run ended with an error.",
    status: "failed",
    hasEnded: true,
    hasError: true,
  },
  {
    type: "workflow.timeout",
    description: "A run exceeded its timeout.",
    status: "timeout",
    hasEnded: true,
    hasError: true,
  },
  {
    type: "workflow.cancelled",
    description: "A run was cancelled.",
    status: "cancelled",
    hasEnded: true,
  },
];

/** The types of events that runs make. */
export const RUN_EVENT_TYPES: readonly EventType[] = RUN_EVENTS.map((event) => ({
  type: event.type,
  description: event.description,
  schema: schemaOf(event),
  example: exampleOf(event),
}));

function schemaOf({ type, hasEnded = false, hasError = false, hasStep = false }: RunEvent) {
  const time = { type: ["string", "null"], format: "date-time" };
  return bodySchema(
    type,
    {
      workflowId: UUID,
      workflowName: { type: "string" },
      runId: prefixedId("run_"),
      status: { type: "string", description: "The run's status when it happened." },
      triggerType: { type: "string", description: "What started the run, such as api." },
      startedAt: time,
      completedAt: hasEnded ? TIMESTAMP : time,
      durationMs: { type: ["integer", "null"], minimum: 0 },
      input: { description: "The run's input; null when it is left out." },
      output: { description: "The run's output; null before it has one, or when it is left out." },
    },
    {
      ...(hasError ? { error: errorSchema() } : {}),
      ...(hasStep ? { stepId: { type: ["string", "null"] } } : {}),
      truncated: {
        const: true,
        description: "Input and output are more than 256 KiB together and left out; see runUrl.",
      },
      runUrl: { type: "string", description: "Where the whole run is." },
    },
  );
}

function errorSchema() {
  return {
    type: ["object", "null"],
    required: ["code", "message", "stepId"],
    properties: {
      code: { type: "string" },
      message: { type: "string" },
      stepId: {
        type: ["string", "null"],
        description: "The step that failed; null when none did.",
      },
    },
  };
}

function exampleOf(event: RunEvent) {
  const { type, status, hasEnded, hasOutput, hasError, hasStep } = event;
  return {
    id: "evt_01kg9d1m3cexw9f1c3f4r7m2qa",
    type,
    timestamp: hasEnded ? ENDED_AT : STARTED_AT,
    workflowId: "019c12d0-8f4c-7abc-9def-0123456789ab",
    workflowName: "Order intake",
    runId: "run_01kg9d1kzcexw9f1c3f4r7m2qa",
    companyId: "019c12d0-0000-7abc-9def-0123456789ab",
    status,
    triggerType: "api",
    startedAt: STARTED_AT,
    completedAt: hasEnded ? ENDED_AT : null,
    durationMs: hasEnded ? Date.parse(ENDED_AT) - Date.parse(STARTED_AT) : null,
    input: { orderId: "A-1001" },
    output: hasOutput ? { accepted: true } : null,
    ...(hasError
      ? { error: { code: "STEP_FAILED", message: "The step failed.", stepId: "charge" } }
      : {}),
    ...(hasStep ? { stepId: "wait_for_stock" } : {}),
  };
}
