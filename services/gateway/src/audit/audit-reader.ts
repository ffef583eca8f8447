import type { CursorCodec, Database } from "@workflow/db";
import { databaseErrorToAppError } from "@workflow/db";
import { listAudit } from "../store/audit-list.ts";
import type { AuditFilter, AuditRow } from "../store/audit-list.ts";

/** One page of the log, newest first. */
export interface AuditPage {
  rows: readonly AuditRow[];
  /** Where the next page begins; null after the last one. */
  cursor: string | null;
}

/** Reads the audit log for those who may. */
export interface AuditReader {
  /** @throws AppError BAD_REQUEST for a cursor of another list */
  list(filter: AuditFilter, page: { limit: number; cursor: string }): Promise<AuditPage>;
}

export function createAuditReader(database: Database, cursors: CursorCodec): AuditReader {
  return {
    async list(filter, { limit, cursor }) {
      const binding = JSON.stringify(["audit-logs", filter]);
      const after = cursor === "" ? null : (cursors.decode(binding, cursor)[0] ?? null);
      const found = await listAudit(database, filter, { after, limit: limit + 1 }).catch(
        (error: unknown) => {
          throw databaseErrorToAppError(error);
        },
      );
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return { rows, cursor: last === undefined ? null : cursors.encode(binding, [last.id]) };
    },
  };
}
