import { Shares } from "@workflow/async";
import { AppError, invalidRequest } from "@workflow/errors";
import { ExportFormat } from "@workflow/proto/tables/v1/tables";
import type { ExportRowsRequest, ExportRowsResponse } from "@workflow/proto/tables/v1/tables";
import { rpcServerStream } from "@workflow/rpc";
import type { ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { ChunkQueue } from "../export/chunk-queue.ts";
import { CSV, JSONL } from "../export/format-rows.ts";
import type { RowFormat } from "../export/format-rows.ts";
import { freezeSnapshot, listRowsAfter } from "../store/export-rows.ts";
import type { TableName } from "../store/states.ts";
import { getTable } from "../store/tables.ts";
import { requireTableName } from "./table-name.ts";

const CHUNK_BYTES = 64 * 1024;
/** The bytes that are read from the database ahead of a slower client. */
const AHEAD_BYTES = 16 * 1024 * 1024;
/** The time for which a client may take nothing while the database is read for it. */
const STALL_MS = 30_000;
const RETRY_AFTER_MS = 2_000;

/**
 * Writes all rows that a table had when the export began, as one text. One transaction with one snapshot reads
 * them, because pages that each see the latest state would mix states. The transaction ends when everything is
 * read, up to 16 MiB ahead of the client. A client that stalls before that is dropped. Exports use at most half of
 * the pool's connections, and a quarter for one company.
 */
export function exportRows(
  context: ServiceContext,
): ServerStreamMethod<ExportRowsRequest, ExportRowsResponse> {
  const { maxPoolSize = 2 } = context.database.configuration;
  const places = new Shares({
    total: Math.max(1, Math.floor(maxPoolSize / 2)),
    perTenant: Math.max(1, Math.floor(maxPoolSize / 4)),
  });
  return rpcServerStream({
    scopes: "workflows:read",
    async *handler(request, call) {
      const name = requireTableName(request.tableId, call);
      const format = requireFormat(request.format);
      const leavePlace = places.take(name.companyId);
      if (leavePlace === null) throw tooManyExports();
      const queue = new ChunkQueue({ bytesMax: AHEAD_BYTES, stallMs: STALL_MS });
      const leave = (): void => queue.leave();
      call.signal.addEventListener("abort", leave, { once: true });
      const reading = readTable(context, name, format, queue).finally(leavePlace);
      try {
        for await (const chunk of queue) yield { chunk };
      } finally {
        call.signal.removeEventListener("abort", leave);
        await reading;
      }
    },
  });
}

/** Puts the whole text into the queue, or the error that ended the reading. Never rejects. */
async function readTable(
  { database }: ServiceContext,
  name: TableName,
  format: RowFormat,
  queue: ChunkQueue,
): Promise<void> {
  try {
    await database.transaction(async (transaction) => {
      await freezeSnapshot(transaction);
      const { columns, tableKey } = await getTable(transaction, name);
      const key = { companyId: name.companyId, tableKey };
      let text = format.head(columns);
      let position = -1;
      for (;;) {
        const rows = await listRowsAfter(transaction, key, position);
        const last = rows.at(-1);
        if (last === undefined) break;
        position = last.position;
        for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
          text += format.rows(rows.slice(from, from + ROWS_AT_ONCE), columns);
          if (text.length < CHUNK_BYTES) continue;
          await queue.push(Buffer.from(text));
          text = "";
        }
      }
      if (text !== "") await queue.push(Buffer.from(text));
      // The transaction is not repeated, because the text in the queue may have been sent.
    }, 0);
    queue.end();
  } catch (error) {
    queue.end({ error });
  }
}

/** Fifty usual rows have some 10 KiB, so chunks do not grow far beyond their size. */
const ROWS_AT_ONCE = 50;

function requireFormat(format: ExportFormat): RowFormat {
  switch (format) {
    case ExportFormat.CSV:
      return CSV;
    case ExportFormat.JSONL:
      return JSONL;
    default:
      throw invalidRequest([{ path: ["format"], message: "must be csv or jsonl" }]);
  }
}

function tooManyExports(): AppError {
  return new AppError("UNAVAILABLE", "Too many exports are under way at the moment.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
