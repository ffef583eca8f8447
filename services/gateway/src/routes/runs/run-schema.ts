import { z } from "zod";
import { anyJson, anyObject, namesOf, prefixedId, timeText, uuidText } from "../answer-schemas.ts";
import { RUN_STATUSES, STEP_STATUSES, TRIGGER_TYPES } from "./run-json.ts";

export const runIdSchema = prefixedId("run_").describe("The run's id.");

const runtimeRunIdSchema = z
  .string()
  .nullable()
  .describe("What the task runtime calls the run; null for one that it never got.")
  .meta({ examples: ["task_01kg9d1kzcexw9f1c3f4r7m2qa"] });

/** The status of a run. */
export const runStatusSchema = namesOf(RUN_STATUSES)
  .describe(
    "completed, failed, cancelled and timeout are final. waiting_approval waits for a person, suspended for a time or another run.",
  )
  .meta({ examples: ["completed"] });

const durationSchema = z
  .int()
  .describe("Milliseconds.")
  .meta({ examples: [1_250] });

/** The error of a run or a step. */
const executionErrorSchema = z
  .strictObject({
    code: z.string().meta({ examples: ["HTTP_STATUS"] }),
    message: z.string().meta({ examples: ["The server answered with the status 503."] }),
    details: anyObject
      .optional()
      .describe(
        "What is known beside; of a failure of the platform triggerStatus (CRASHED, SYSTEM_FAILURE) and, where there is one, triggerErrorCode.",
      ),
  })
  .meta({ id: "ExecutionError", description: "Why a run or a step failed." });

/** The begin, the end and the error of a run. */
const outcomeFields = {
  status: runStatusSchema,
  startedAt: timeText.nullable().describe("Null until a worker has begun it."),
  completedAt: timeText.nullable().describe("Null until it has ended."),
  durationMs: durationSchema
    .nullable()
    .describe(
      "Milliseconds from its begin to its end; null until it has ended, and if it never began.",
    ),
  error: executionErrorSchema.nullable().describe("Null unless it failed."),
};

const workflowIdSchema = uuidText.describe("The workflow that is run.");

/** A run in a list. */
export const runListItemSchema = z
  .strictObject({
    id: runIdSchema,
    workflowId: workflowIdSchema,
    workflowVersion: z
      .int()
      .min(1)
      .describe("The version that is run, whatever comes later.")
      .meta({ examples: [3] }),
    ...outcomeFields,
    triggerType: namesOf(TRIGGER_TYPES)
      .describe("What started it.")
      .meta({ examples: ["api"] }),
    createdAt: timeText,
    restartedFromRunId: runIdSchema
      .optional()
      .describe("Only of a retry or restart: the run that it repeats."),
  })
  .meta({ id: "RunListItem", description: "A run without its documents." });

const attemptSchema = z
  .int()
  .min(1)
  .describe("1 is the first.")
  .meta({ examples: [1] });

/** A step result (D26). */
export const stepResultSchema = z
  .strictObject({
    stepId: z.string().meta({ examples: ["greet"] }),
    path: z
      .string()
      .describe("Where in the workflow, with the rounds of loops: `loop1[2].greet`.")
      .meta({ examples: ["greet"] }),
    type: z
      .string()
      .describe("The step's type.")
      .meta({ examples: ["transform"] }),
    status: namesOf(STEP_STATUSES).meta({ examples: ["success"] }),
    startedAt: timeText,
    completedAt: timeText,
    durationMs: durationSchema,
    input: anyJson.describe(
      "The config, templates resolved and secrets masked; null where there is none.",
    ),
    output: anyJson.describe("What the step gave; null where there is none."),
    error: executionErrorSchema.nullable().describe("Null unless the last attempt failed."),
    attempt: attemptSchema.describe("The number of the last attempt, from 1."),
    previousAttempts: z
      .array(
        z.strictObject({
          attempt: attemptSchema,
          startedAt: timeText,
          error: executionErrorSchema.nullable(),
        }),
      )
      .optional()
      .describe("Attempts that failed before; left out where there are none."),
    reused: z
      .literal(true)
      .optional()
      .describe("Taken over from the run that this one repeats; else left out."),
    truncated: z
      .literal(true)
      .optional()
      .describe(
        "Input and output are null because the answer would be too long; GET /runs/{id}/steps/{path} has them.",
      ),
    inputBytes: z.int().optional().describe("How long the input is; only when truncated."),
    outputBytes: z.int().optional().describe("How long the output is; only when truncated."),
  })
  .meta({ id: "StepResult", description: "What one step of a run did." });

const stepResultsSchema = z
  .array(stepResultSchema)
  .describe("In execution order; inputs and outputs have at most 8 MiB together.");

/** A full run. */
export const runSchema = runListItemSchema
  .extend({
    triggerRuntimeRunId: runtimeRunIdSchema,
    input: anyJson
      .describe("What it was given: an object, unless a webhook sent something else.")
      .meta({ examples: [{ name: "Ada" }] }),
    output: anyJson
      .describe("What it gave; null until it has completed.")
      .meta({ examples: [{ text: "Hello Ada" }] }),
    stepResults: stepResultsSchema,
  })
  .meta({ id: "Run", description: "A run with its documents and what its steps did." });

/** The step results of a run, and its end. */
export const runLogsSchema = z
  .strictObject({
    runId: runIdSchema,
    workflowId: workflowIdSchema,
    triggerRuntimeRunId: runtimeRunIdSchema,
    ...outcomeFields,
    logs: stepResultsSchema,
  })
  .meta({ id: "RunLogs", description: "What the steps of a run did." });

/** The run in a stream: with its output once it has completed. */
export const runUpdateSchema = runListItemSchema
  .extend({
    output: anyJson.optional().describe("Only of a run that has completed."),
  })
  .meta({ id: "RunUpdate", description: "Data of the event `run`: where the run stands." });

/** The answer to a cancellation. */
export const cancelledRunSchema = z
  .strictObject({
    id: runIdSchema,
    status: z.literal("cancelled"),
    message: z.string().meta({ examples: ["The run was cancelled."] }),
  })
  .meta({ id: "CancelledRun", description: "A run that was cancelled." });

/** The answer to a retry or restart. */
export const repeatedRunSchema = z
  .strictObject({
    originalRunId: runIdSchema.describe("The run that is repeated."),
    newRunId: runIdSchema.describe("The run that repeats it."),
    workflowId: workflowIdSchema,
    restartFromStepId: z
      .string()
      .nullable()
      .describe(
        "The step from which on it is executed anew; null where no step of the original failed.",
      )
      .meta({ examples: ["greet"] }),
    status: z.literal("pending"),
    createdAt: timeText,
  })
  .meta({ id: "RepeatedRun", description: "A run that was started to repeat another." });

/** The result for one of many runs. */
export const bulkResultSchema = z
  .discriminatedUnion("success", [
    z.strictObject({
      runId: runIdSchema,
      success: z.literal(true),
      newRunId: runIdSchema.optional().describe("The run that a retry started; not of a cancel."),
    }),
    z.strictObject({
      runId: z.string().describe("As it was given."),
      success: z.literal(false),
      error: z
        .strictObject({
          code: z.string().describe("As the single call would answer."),
          message: z.string(),
        })
        .meta({ examples: [{ code: "INVALID_STATE", message: "The run is completed." }] }),
    }),
  ])
  .meta({ id: "BulkRunResult", description: "What became of one of many runs." });
