import { isUuid, newUuid } from "@workflow/db";
import { AppError, invalidRequest, isAppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { BatchRowsRequest, BatchRowsResponse } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { CompanyConnections } from "../company-connections.ts";
import type { ServiceContext } from "../context.ts";
import { parseRowData } from "../domain/row-data.ts";
import { findKnownIds } from "../store/rows-read.ts";
import { rowsNotFound } from "../store/rows-record.ts";
import type { TableName } from "../store/states.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";
import { writeCauseOf } from "./write-cause.ts";

const CHANGES_MAX = 1_000;
const BYTES_MAX = 8 * 1024 * 1024;
const PROBLEMS_MAX = 50;

/** Inserts, updates and deletes rows of a table. Either all changes are made or none (D36). */
export function batchRows({
  connections,
  rowWriter,
}: ServiceContext): UnaryMethod<BatchRowsRequest, BatchRowsResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      assertSize(request);
      const { inserts, updates, deletes } = parseChanges(request);
      const table = requireTableName(request.tableId, call);
      const ids = [...updates.map(({ id }) => id), ...deletes];
      if (!ids.every(isUuid)) throw await missingOf(connections, table, ids);
      const cause = writeCauseOf(call);
      const changes = {
        inserts: inserts.map((data) => ({ id: newUuid(), data, cause })),
        updates,
        deletes,
      };
      try {
        const { inserted, updated } = await rowWriter.write(table, changes, cause, call);
        return {
          inserted: inserted.map(toRowMessage),
          updated: updated.map(toRowMessage),
          deletedRowIds: deletes,
        };
      } catch (error) {
        throw isAboutRows(error) ? await missingOf(connections, table, ids) : error;
      }
    },
  });
}

/** An error about a missing table has no details. */
function isAboutRows(error: unknown): boolean {
  return isAppError(error) && error.reason === "NOT_FOUND" && error.details !== undefined;
}

/**
 * The error that names all missing rows. The write itself ends at the first statement that misses a row.
 */
async function missingOf(
  connections: CompanyConnections,
  table: TableName,
  ids: readonly string[],
): Promise<AppError> {
  const known = await findKnownIds(connections.of(table.companyId), table, ids.filter(isUuid));
  return rowsNotFound(ids.filter((id) => !known.has(id)));
}

function assertSize({ insertDataJson, updates, deleteRowIds }: BatchRowsRequest): void {
  const count = insertDataJson.length + updates.length + deleteRowIds.length;
  if (count < 1 || count > CHANGES_MAX) {
    const message = `must have 1 to ${CHANGES_MAX} changes in all, not ${count}`;
    throw invalidRequest([{ path: [], message }]);
  }
  const datas = [...insertDataJson, ...updates.map(({ dataJson }) => dataJson)];
  const bytes = datas.reduce((sum, data) => sum + Buffer.byteLength(data), 0);
  if (bytes > BYTES_MAX) {
    throw new AppError("PAYLOAD_TOO_LARGE", `The rows have more than ${BYTES_MAX} bytes.`);
  }
}

/** Reads the wanted changes, with ids in their stored form. All problems are reported together. */
function parseChanges({ insertDataJson, updates, deleteRowIds }: BatchRowsRequest) {
  const violations: Violation[] = [];
  const seen = new Set<string>();
  const parseId = (rowId: string, path: string[]): string => {
    const id = rowId.toLowerCase();
    if (seen.has(id)) violations.push({ path, message: "names a row that is named before" });
    seen.add(id);
    return id;
  };
  const parseData = (text: string, path: string[]): string => {
    try {
      return parseRowData(text, path);
    } catch (error) {
      if (!isAppError(error)) throw error;
      violations.push(...error.violations);
      return "";
    }
  };
  const changes = {
    inserts: insertDataJson.map((text, index) => parseData(text, ["insert", `${index}`, "data"])),
    updates: updates.map(({ rowId, dataJson }, index) => ({
      id: parseId(rowId, ["update", `${index}`, "id"]),
      data: parseData(dataJson, ["update", `${index}`, "data"]),
    })),
    deletes: deleteRowIds.map((rowId, index) => parseId(rowId, ["delete", `${index}`])),
  };
  if (violations.length > 0) throw invalidRequest(violations.slice(0, PROBLEMS_MAX));
  return changes;
}
