import { z } from "zod";
import { jsonObject } from "../fields.ts";

const KEY_LENGTH_MAX = 255;
const keyMessage = `must have 1 to ${KEY_LENGTH_MAX} characters`;
const waitMessage = "must be from 1000 to 300000";

/** A key under which a start may be repeated without a second run. */
export const idempotencyKey = z.string().min(1, keyMessage).max(KEY_LENGTH_MAX, keyMessage);

/** The body of a start. The last three fields have a meaning in sync mode only. */
export const runOptions = z
  .object({
    input: jsonObject
      .optional()
      .describe(
        "What the run works on, at most 1 MiB; it has to fit the workflow's inputSchema. An empty object by default.",
      )
      .meta({ examples: [{ name: "Ada" }] }),
    connectionId: z
      .string()
      .optional()
      .describe(
        "The connection that steps use which name none, where a provider has several; 1 to 255 characters.",
      )
      .meta({ examples: ["conn_01kg9d1kzcexw9f1c3f4r7m2qa"] }),
    idempotencyKey: idempotencyKey
      .optional()
      .describe(
        "A start with the same key within 24 hours gives the run of the first one. Goes before the header Idempotency-Key.",
      )
      .meta({ examples: ["order-4711"] }),
    mode: z
      .enum(["async", "sync"])
      .default("async")
      .describe("Whether the answer comes at once or when the run has ended."),
    maxExecutionTimeMs: z
      .int()
      .min(1_000, waitMessage)
      .max(300_000, waitMessage)
      .default(30_000)
      .describe("Sync only: how long the caller waits, in milliseconds."),
    onTimeout: z
      .enum(["return_run_id", "throw_error"])
      .default("return_run_id")
      .describe("Sync only: what a run that goes on is answered with: 202 or 408."),
    onFailure: z
      .enum(["throw_error", "switch_to_async"])
      .default("throw_error")
      .describe("Sync only: what a run that failed is answered with: 500 or 202."),
  })
  .meta({ id: "RunStart", description: "What to run a workflow with, and whether to wait." });

/** The options of a start. */
export type RunOptions = z.output<typeof runOptions>;
