import type { CursorCodec, Database } from "@workflow/db";
import type { AuditTrail } from "@workflow/events";
import type { DeploymentCache } from "./engine/deployment-cache.ts";
import type { EndHook } from "./engine/end-hooks.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import type { RunStarter } from "./engine/run-starter.ts";
import type { WakeUps } from "./engine/wake-ups.ts";
import type { RunWatcher } from "./operations/run-watcher.ts";
import type { TaskRuntime } from "./task-runtime/port.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  cursors: CursorCodec;
  deployments: DeploymentCache;
  runtime: TaskRuntime;
  starter: RunStarter;
  endedRuns: EndedRuns;
  /** What else becomes true when runs end; called in this order. */
  endHooks: readonly EndHook[];
  /** To be told after commits that note wake-ups. */
  wakeUps: WakeUps;
  watcher: RunWatcher;
  audit: AuditTrail;
  /** To be called after commits that put events into the outbox. */
  onEvents: () => void;
  /** The clock by which schedules fire. */
  now: () => Date;
}
