import { z } from "zod";
import { anyJson, timeText, uuidText } from "../answer-schemas.ts";
import { runIdSchema, runStatusSchema } from "../runs/run-schema.ts";

/** The members of every answer to a start, in two spellings. */
const runFields = {
  run_id: runIdSchema,
  workflow_id: uuidText.describe("The workflow's id."),
  runId: runIdSchema.describe("The same as run_id."),
  workflowId: uuidText.describe("The same as workflow_id."),
  workflowVersion: z
    .int()
    .min(1)
    .describe("The version that is run.")
    .meta({ examples: [3] }),
};

const async = z.literal("async").describe("The run goes on, or has failed, without the caller.");

/** The answer to an asynchronous start. */
const acceptedRunSchema = z
  .strictObject({ ...runFields, status: z.literal("pending"), mode: async })
  .meta({ id: "AcceptedRun", description: "A run that was started." });

const timedOutRunSchema = z
  .strictObject({
    ...runFields,
    status: z.enum(["running", "waiting_approval", "suspended"]),
    mode: async,
    timed_out: z.literal(true),
    message: z
      .string()
      .meta({ examples: ["The run did not end within 30000 ms. It goes on in the background."] }),
  })
  .meta({ id: "TimedOutRun", description: "A run that did not end while its caller waited." });

/** The answer about a failed run, for a caller who asked for this form. */
const failedRunSchema = z
  .strictObject({
    ...runFields,
    status: z.enum(["failed", "cancelled", "timeout"]),
    mode: async,
    error: z
      .strictObject({
        code: z.literal("TRIGGER_ERROR"),
        message: z.string().meta({ examples: ["The server answered with the status 503."] }),
        details: z.strictObject({
          run_id: runIdSchema,
          workflow_id: uuidText,
          status: z.enum(["failed", "cancelled", "timeout"]),
          errorCode: z
            .string()
            .optional()
            .describe("The code of the run's error, where it has one."),
          triggerStatus: z
            .string()
            .optional()
            .describe("Only of a failure of the platform: the task runtime's status of the run."),
          triggerErrorCode: z
            .string()
            .optional()
            .describe("Only of a failure of the platform, where the task runtime gives a code."),
        }),
        requestId: z.string().meta({ examples: ["0197f2a05a5a7a5a8a5a5a5a5a5a5a5a"] }),
      })
      .describe("What onFailure throw_error would have answered."),
  })
  .meta({ id: "FailedRun", description: "A run that failed while its caller waited." });

const completedRunSchema = z
  .strictObject({
    ...runFields,
    status: z.literal("completed"),
    mode: z.literal("sync"),
    output: anyJson
      .describe("What the run gave, any JSON.")
      .meta({ examples: [{ text: "Hello Ada" }] }),
    duration_ms: z
      .int()
      .nullable()
      .describe("Milliseconds that the run took; null where it never began.")
      .meta({ examples: [1_250] }),
  })
  .meta({ id: "CompletedRun", description: "A run that completed while its caller waited." });

const existingRunSchema = z
  .strictObject({
    ...runFields,
    status: runStatusSchema,
    message: z.string().meta({ examples: ["A run with this idempotency key already exists."] }),
  })
  .meta({ id: "ExistingRun", description: "The run that an idempotency key belongs to." });

/** The answer of a start with 200. */
export const endedStartSchema = z.union([completedRunSchema, existingRunSchema]);

/** The answer of a start with 202. */
export const pendingStartSchema = z.union([acceptedRunSchema, timedOutRunSchema, failedRunSchema]);

/** The answer to starting a scheduled workflow by hand. */
export const triggeredRunSchema = z
  .strictObject({
    runId: runIdSchema,
    status: z.literal("pending"),
    workflowId: uuidText.describe("The workflow's id."),
    triggeredAt: timeText,
  })
  .meta({ id: "TriggeredRun", description: "A run that was started as a schedule would." });
