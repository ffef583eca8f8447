import type { AuditTrail } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { CompanyConnections } from "./company-connections.ts";
import type { Snapshots } from "./snapshots/index.ts";
import type { RowBytesMax } from "./store/row-bytes.ts";
import type { RowWriter } from "./writes/index.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  /** The same by company: whatever callers ask for takes its connections here. */
  connections: CompanyConnections;
  audit: AuditTrail;
  snapshots: Snapshots;
  rowWriter: RowWriter;
  rowBytesMax: RowBytesMax;
  /** To be called after a commit that told of changed rows. Cheap, never throws. */
  rowEvents: { wake(): void };
  logger: Logger;
}
