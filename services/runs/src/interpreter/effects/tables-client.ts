import type { CallCause } from "../../domain/run-facts.ts";

/** The run for which rows are read and written. */
export interface TablesCaller extends CallCause {
  runId: string;
}

/** Which rows are sought. The service decides what is undefined. */
export interface RowsQuery {
  tableId: string;
  /** JSON text of an object. */
  filter?: string | undefined;
  sort?: string | undefined;
  order?: "asc" | "desc" | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

/** A row as the API shows it. */
export interface TableRow {
  id: string;
  data: unknown;
  position: number | null;
  createdAt: string | null;
  updatedAt: string | null;
}

/** A page of rows (D17). */
export interface FoundRows {
  rows: TableRow[];
  /** How many rows match, on all pages together. */
  total: number;
  hasMore: boolean;
}

/**
 * The client for the company's data tables. A write has a key; under the same key it is done once.
 *
 * @throws StepError by every method: TABLE_NOT_FOUND, ROW_NOT_FOUND or TABLE_REJECTED (for good),
 * TABLE_UNAVAILABLE (may work later); the signal's reason when it was aborted
 */
export interface TablesClient {
  query(caller: TablesCaller, query: RowsQuery, signal: AbortSignal): Promise<FoundRows>;
  /** @param data JSON text of an object */
  insert(
    caller: TablesCaller,
    row: { tableId: string; data: string },
    key: string,
    signal: AbortSignal,
  ): Promise<TableRow>;
  /** @param data JSON text of an object; with `merge` missing members stay as they are */
  update(
    caller: TablesCaller,
    row: { tableId: string; rowId: string; data: string; merge: boolean },
    key: string,
    signal: AbortSignal,
  ): Promise<TableRow>;
  delete(
    caller: TablesCaller,
    row: { tableId: string; rowId: string },
    key: string,
    signal: AbortSignal,
  ): Promise<void>;
  close(): void;
}
