import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { SafeHttpClient } from "@workflow/http-client";
import type { KeyRing } from "@workflow/sealing";
import type { CompanyWrites } from "@workflow/service";
import type { Logger } from "pino";
import type { RunningInbound } from "./inbound/start-inbound.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  /** Seals and opens the secrets of endpoints. */
  ring: KeyRing;
  /** Makes callers' changes in turns between companies. */
  writes: CompanyWrites;
  /** The client for the receivers of deliveries. */
  http: SafeHttpClient;
  /** Makes and reads the cursors of lists. */
  cursors: CursorCodec;
  audit: AuditTrail;
  logger: Logger;
  inbound: Pick<RunningInbound, "backlog" | "wakeSweeper">;
}
