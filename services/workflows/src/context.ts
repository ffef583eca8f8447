import type { CursorCodec, Database } from "@workflow/db";
import type { AuditTrail } from "@workflow/events";
import type { HandOver } from "./deployment/hand-over.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  cursors: CursorCodec;
  handOver: HandOver;
  audit: AuditTrail;
  /** To be called after commits that put events into the outbox. */
  onEvents: () => void;
}
