import type { SettingName } from "@workflow/service";
import { oneOf, poolName, wholeNumber } from "@workflow/service/setting-types";
import type { z } from "zod";

/** The settings that this service reads alone. */
export const SETTINGS = {
  TASK_RUNTIME: oneOf(["postgres", "restate"])
    .default("postgres")
    .describe("What executes runs: leased tasks in Postgres. This version refuses restate."),
  RUNS_ROLE: oneOf(["all", "api", "worker"])
    .default("all")
    .describe("Which half of the runs service a process is: the API, a worker, or both."),
  RUNS_POOL: poolName()
    .default("default")
    .describe(
      "The pool of workers that a process belongs to: it executes the runs that rules lead there, those without a rule in `default`.",
    ),
  RUNS_LEASE_MS: wholeNumber(500, 600_000)
    .default(10_000)
    .describe("How long a silent worker keeps its runs before another takes them over."),
  WORKER_CONCURRENCY: wholeNumber(1, 1_000)
    .default(200)
    .describe(
      "Runs that one worker process advances at the same time; a tenth more for companies that would have none.",
    ),
  WORKER_MEMORY_MB: wholeNumber(16, 1_048_576)
    .default(512)
    .describe(
      "Memory that one worker process uses for what its runs hold, in MiB; runs that need more wait for their turn.",
    ),
  RUN_BYTES_MAX: wholeNumber(1_024, 17_179_869_184)
    .default(67_108_864)
    .describe("Most bytes that the inputs and outputs of all steps of a run have together."),
  COMPANY_BACKLOG_MAX: wholeNumber(1, 100_000_000)
    .default(200_000)
    .describe("Runs of one company that may be waiting to begin; starts beyond it answer 429."),
  COMPANY_WATCHERS_MAX: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe(
      "Runs that one company may watch at the same time (SSE and gRPC) in one runs process; 10,000 in all.",
    ),
  COMPANY_SYNC_WAITS_MAX: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe(
      "Synchronous starts of one company that may wait for their runs at the same time in one runs process; 10,000 in all.",
    ),
  RUN_RETENTION_DAYS: wholeNumber(0, 36_500)
    .default(0)
    .describe(
      "Days for which ended runs are kept, at least, unless their company has a policy of its own; 0 is for ever.",
    ),
} as const satisfies Partial<Record<SettingName, z.ZodType>>;
