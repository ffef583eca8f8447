import type { Shares } from "@workflow/async";
import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { AnswerTurns } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { ContentReader } from "./deployments/content-reader.ts";
import type { DeploymentCache } from "./deployments/deployment-cache.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import type { WakeUps } from "./engine/wake-ups.ts";
import type { EndHook } from "./journal/end-hooks.ts";
import type { RunWatcher } from "./operations/run-watcher.ts";
import type { StatisticsTurns } from "./operations/statistics-turns.ts";
import type { AcceptedRuns } from "./starting/accepted-runs.ts";
import type { Backlog } from "./starting/backlog.ts";
import type { RunStarter } from "./starting/run-starter.ts";
import type { WorkerPools } from "./starting/worker-pools.ts";
import type { TaskRuntime } from "./task-runtime/runtime.ts";
import type { EventStarter } from "./triggers/event-starter.ts";

/** The dependencies of the RPC handlers. */
export interface ServiceContext {
  database: Database;
  cursors: CursorCodec;
  deployments: DeploymentCache;
  /** Judges the content of workflows that are handed over. */
  contents: ContentReader;
  runtime: TaskRuntime;
  acceptedRuns: AcceptedRuns;
  pools: WorkerPools;
  backlog: Backlog;
  starter: RunStarter;
  /** Starts the runs that events from outside trigger. */
  eventStarter: EventStarter;
  endedRuns: EndedRuns;
  /** The further writes at the ends of runs. The hooks are called in this order. */
  endHooks: readonly EndHook[];
  /** Notified after each commit that notes wake-ups. */
  wakeUps: WakeUps;
  watcher: RunWatcher;
  /** Bounds the bytes of the large runs that are being read. */
  readings: AnswerTurns;
  statistics: StatisticsTurns;
  /** The limit on callers who wait for the runs that they start, company by company. */
  syncWaits: Shares;
  audit: AuditTrail;
  /** Called after each commit that puts events into the outbox. */
  onEvents: () => void;
  /** Makes the spans of recorded traces. */
  tracer: Tracer | undefined;
  /** The clock that decides when schedules fire. */
  now: () => Date;
}
