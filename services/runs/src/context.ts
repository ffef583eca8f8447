import type { CursorCodec, Database } from "@workflow/db";
import type { EndedRuns } from "./engine/ended-runs.ts";
import type { RunStarter } from "./engine/run-starter.ts";
import type { TaskRuntime } from "./task-runtime/port.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  cursors: CursorCodec;
  runtime: TaskRuntime;
  starter: RunStarter;
  endedRuns: EndedRuns;
  /** To be called after commits that put events into the outbox. */
  onEvents: () => void;
}
