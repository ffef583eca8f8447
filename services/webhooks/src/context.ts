import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { SafeHttpClient } from "@workflow/http-client";
import type { KeyRing } from "@workflow/sealing";
import type { CompanyWrites } from "@workflow/service";
import type { Logger } from "pino";
import type { RunningInbound } from "./inbound/start-inbound.ts";

/** The dependencies of the RPC handlers. */
export interface ServiceContext {
  database: Database;
  /** Encrypts and decrypts the secrets of endpoints. */
  ring: KeyRing;
  /** Serializes callers' changes; companies take turns. */
  writes: CompanyWrites;
  /** The client for the receivers of deliveries. */
  http: SafeHttpClient;
  /** Encodes and decodes the cursors of lists. */
  cursors: CursorCodec;
  audit: AuditTrail;
  logger: Logger;
  inbound: Pick<RunningInbound, "backlog" | "wakeSweeper">;
}
