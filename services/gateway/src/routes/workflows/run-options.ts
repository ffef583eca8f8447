import { z } from "zod";
import { jsonObject } from "../fields.ts";

const KEY_LENGTH_MAX = 255;
const keyMessage = `must have 1 to ${KEY_LENGTH_MAX} characters`;
const waitMessage = "must be from 1000 to 300000";

/** A key under which a start may be repeated without starting twice. */
export const idempotencyKey = z.string().min(1, keyMessage).max(KEY_LENGTH_MAX, keyMessage);

/** The body of a start. The last three fields only mean something in sync mode. */
export const runOptions = z.object({
  input: jsonObject.optional(),
  connectionId: z.string().optional(),
  idempotencyKey: idempotencyKey.optional(),
  mode: z.enum(["async", "sync"]).default("async"),
  maxExecutionTimeMs: z.int().min(1_000, waitMessage).max(300_000, waitMessage).default(30_000),
  onTimeout: z.enum(["return_run_id", "throw_error"]).default("return_run_id"),
  onFailure: z.enum(["throw_error", "switch_to_async"]).default("throw_error"),
});

/** What a caller asked for when starting a run. */
export type RunOptions = z.output<typeof runOptions>;
