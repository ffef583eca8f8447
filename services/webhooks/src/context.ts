import type { CursorCodec, Database } from "@workflow/db";
import type { AuditTrail } from "@workflow/events";
import type { Logger } from "pino";
import type { RunningInbound } from "./inbound/start-inbound.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  /** Makes and reads the cursors of lists. */
  cursors: CursorCodec;
  audit: AuditTrail;
  logger: Logger;
  inbound: Pick<RunningInbound, "backlog" | "wakeSweeper">;
}
