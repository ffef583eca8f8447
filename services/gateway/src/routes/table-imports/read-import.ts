import { readCsvImport } from "./csv-import.ts";
import type { ImportJob, ImportPlan } from "./import-plan.ts";
import { readJsonImport } from "./json-import.ts";

/**
 * Reads a file of either format.
 *
 * @throws AppError BAD_REQUEST or PAYLOAD_TOO_LARGE with what is wrong with it
 */
export function readImport(job: ImportJob): ImportPlan {
  return job.format === "csv" ? readCsvImport(job.bytes, job.fields) : readJsonImport(job.bytes);
}
