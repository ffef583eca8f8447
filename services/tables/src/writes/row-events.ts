import type { NewEvent } from "@workflow/events";
import { isSampled } from "@workflow/tracing";
import type { RowRecord } from "../store/rows-record.ts";
import type { TableHead } from "../store/states.ts";

/** The cause of a write. */
export interface WriteCause {
  requestId: string;
  /** Its W3C trace context. */
  traceparent?: string | undefined;
  /** The run that writes; absent for other writers. */
  runId?: string | undefined;
  /** The idempotency key of the write; see `write-once.ts`. */
  key?: string | undefined;
}

/** Events leave larger data out, and say so. */
const DATA_BYTES_MAX = 256 * 1024;

export function rowCreated(head: TableHead, row: RowRecord, cause: WriteCause): NewEvent {
  return rowEvent("table.row_created", head, { row, cause });
}

/** The event of a change. `previous` is the row before it. */
export function rowUpdated(
  head: TableHead,
  row: RowRecord,
  previous: RowRecord,
  cause: WriteCause,
): NewEvent {
  const { value, isLarge } = dataOf(previous);
  const more = { previousData: value, ...(isLarge ? { truncated: true } : {}) };
  return rowEvent("table.row_updated", head, { row, cause, more });
}

/** The event of a deletion. `row` is the row before it. */
export function rowDeleted(head: TableHead, row: RowRecord, cause: WriteCause): NewEvent {
  return rowEvent("table.row_deleted", head, { row, cause });
}

function rowEvent(
  type: string,
  { companyId, tableId, name }: TableHead,
  { row, cause, more = {} }: { row: RowRecord; cause: WriteCause; more?: object },
): NewEvent {
  const { requestId, traceparent, runId } = cause;
  const { value, isLarge } = dataOf(row);
  const data = {
    tableId,
    tableName: name,
    rowId: row.id,
    position: row.position,
    data: value,
    ...more,
    ...(isLarge ? { truncated: true } : {}),
    ...(runId === undefined ? {} : { runId }),
  };
  const traced = traceparent !== undefined && isSampled(traceparent);
  return { type, companyId, requestId, ...(traced ? { traceparent } : {}), data };
}

function dataOf({ data }: RowRecord): { value: unknown; isLarge: boolean } {
  const isLarge = Buffer.byteLength(data) > DATA_BYTES_MAX;
  return { value: isLarge ? null : JSON.parse(data), isLarge };
}
