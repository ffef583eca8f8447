import { AppError, invalidRequest } from "@workflow/errors";
import type { CreateTableRequest, ImportTableRequest } from "@workflow/proto/tables/v1/tables";
import { parseNewTable } from "../domain/new-table.ts";
import type { TableContent } from "../domain/new-table.ts";
import { fromColumnList } from "./table-message.ts";
import { requireFolderId } from "./table-name.ts";
import type { MemoryShare } from "../import/memory-budget.ts";
import { RowGatherer } from "../import/row-gatherer.ts";
import type { RowBatch } from "../import/row-gatherer.ts";

/** The limit that the proto tells. */
const BYTES_MAX = 256 * 1024 * 1024;

/** An import that was received completely and has passed every check without the database. */
export interface ReadImport {
  table: TableContent & { folderId: string | null };
  batches: readonly RowBatch[];
  rowCount: number;
}

/**
 * Receives an import: the table, its rows, the end.
 * @throws AppError BAD_REQUEST, NOT_FOUND (folder), and the errors of RowGatherer
 */
export async function readImport(
  requests: AsyncIterable<ImportTableRequest>,
  memory: MemoryShare,
): Promise<ReadImport> {
  let table: ReadImport["table"] | undefined;
  let rows: RowGatherer | undefined;
  let isEnded = false;
  for await (const { part } of requests) {
    if (isEnded) throw outOfOrder("Nothing may follow the end.");
    if (part?.$case === "table" && table === undefined) {
      table = parseTable(part.value);
      rows = new RowGatherer({ maxRows: table.maxRows, bytesMax: BYTES_MAX }, memory);
    } else if (part?.$case === "rows" && rows !== undefined) {
      await rows.add(part.value.dataJson);
    } else if (part?.$case === "end" && rows !== undefined) {
      requireCount(part.value.rowCount, rows.count);
      isEnded = true;
    } else {
      throw outOfOrder("The first message holds the table, and no other one does.");
    }
  }
  if (table === undefined || rows === undefined || !isEnded) {
    throw outOfOrder("The requests ended before the message that says so.");
  }
  return { table, batches: rows.finish(), rowCount: rows.count };
}

function parseTable(request: CreateTableRequest): ReadImport["table"] {
  const columns = fromColumnList(request.columns);
  if (columns === undefined) {
    throw invalidRequest([{ path: ["columns"], message: "is required" }]);
  }
  const content = parseNewTable({ ...request, columns }, { idFrom: "name" });
  return { ...content, folderId: requireFolderId(request.folderId) };
}

function requireCount(announced: number, received: number): void {
  if (announced === received) return;
  throw outOfOrder(`The end tells of ${announced} rows, but ${received} came.`);
}

function outOfOrder(message: string): AppError {
  return new AppError("BAD_REQUEST", message);
}
