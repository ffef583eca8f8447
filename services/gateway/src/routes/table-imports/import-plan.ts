import type { AppError } from "@workflow/errors";
import type { CreateTableRequest } from "@workflow/proto/tables/v1/tables";
import type { CsvImportFields } from "./csv-import-fields.ts";

/** The input of a reading. */
export type ImportJob =
  | { format: "json"; bytes: Uint8Array }
  | { format: "csv"; bytes: Uint8Array; fields: CsvImportFields };

/** A valid file, as far as it can be checked without its table. */
export interface ImportPlan {
  table: CreateTableRequest;
  /** Rows as JSON objects, in batches of about 1 MiB, made on demand. */
  batches: Iterable<string[]>;
  /** The line on which each row begins; null where rows are named by their index. */
  lines: Uint32Array | null;
}

/** The most rows that a table may have. Longer files are not read to their end. */
export const ROWS_MAX = 100_000;

/** The number of problems that an answer lists. */
export const PROBLEMS_MAX = 50;

const BATCH_CHARS_MAX = 512 * 1024;

/** Joins texts into batches of half a million characters: 1 MiB, when most are not Latin. */
export function* inBatches(texts: Iterable<string>): Generator<string[]> {
  let batch: string[] = [];
  let chars = 0;
  for (const text of texts) {
    if (batch.length > 0 && chars + text.length > BATCH_CHARS_MAX) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(text);
    chars += text.length;
  }
  if (batch.length > 0) yield batch;
}

/** The messages of the thread that reads a file. */
export type ReaderMessage =
  | { type: "table"; table: CreateTableRequest; lines: Uint32Array | null }
  | { type: "rows"; rows: string[] }
  | { type: "end" }
  | ({ type: "refused" } & Pick<AppError, "reason" | "message" | "violations">);
