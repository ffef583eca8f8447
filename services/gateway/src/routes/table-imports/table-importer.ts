import { isAppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type {
  ImportTableRequest,
  Table,
  TablesServiceService,
} from "@workflow/proto/tables/v1/tables";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { invalidFile } from "./csv-records.ts";
import { createSeats } from "./import-seats.ts";
import { openImport } from "./open-import.ts";
import type { OpenImport } from "./open-import.ts";
import type { ImportJob } from "./import-plan.ts";

/** Makes tables from files. */
export interface TableImporter {
  /**
   * Receives a file and creates a table from it, or nothing. Few large files are received at a
   * time; others wait before their bytes are read. Rejects with BAD_REQUEST that names the wrong
   * fields, rows or lines; PAYLOAD_TOO_LARGE; NOT_FOUND (the folder); UNAVAILABLE when too many
   * wait.
   *
   * @param bytesExpected the announced size; undefined counts as large
   */
  importTable(
    receive: () => Promise<ImportJob>,
    bytesExpected: number | undefined,
    call: RpcCallOptions,
  ): Promise<Table>;
}

/** Smaller files are received at once. */
const LARGE_BYTES = 1024 * 1024;
/**
 * The large files in memory. A company has one, so that nobody waits long for another company's
 * slow clients.
 */
const FILES = { seats: 8, seatsEach: 1 };
/** The files that are read at the same time; each takes a processor and the memory of a thread. */
const READERS = { seats: 2, seatsEach: 1 };
const IMPORT_TIMEOUT_MS = 300_000;

/** Creates tables through `tables`. */
export function createTableImporter(tables: RpcClient<TablesServiceService>): TableImporter {
  const files = createSeats(FILES);
  const readers = createSeats(READERS);

  const send = async (job: ImportJob, call: RpcCallOptions): Promise<Table> => {
    const file = await openImport(job);
    try {
      const options = { ...call, timeoutMs: IMPORT_TIMEOUT_MS };
      return await tables.importTable(toRequests(file), options);
    } catch (error) {
      throw file.lines === null ? error : tellLines(error, file.lines);
    } finally {
      await file.close();
    }
  };

  return {
    async importTable(receive, bytesExpected, call) {
      if (bytesExpected !== undefined && bytesExpected < LARGE_BYTES) {
        return send(await receive(), call);
      }
      const company = call.identity?.companyId ?? "";
      const leaveFiles = await files.take(company);
      try {
        const job = await receive();
        const leaveReaders = await readers.take(company);
        try {
          return await send(job, call);
        } finally {
          leaveReaders();
        }
      } finally {
        leaveFiles();
      }
    },
  };
}

async function* toRequests({ table, batches }: OpenImport): AsyncGenerator<ImportTableRequest> {
  yield { part: { $case: "table", value: table } };
  let rowCount = 0;
  for await (const dataJson of batches) {
    rowCount += dataJson.length;
    yield { part: { $case: "rows", value: { dataJson } } };
  }
  yield { part: { $case: "end", value: { rowCount } } };
}

/**
 * The service names rows by their index, but people look for a line of their file. Problems that
 * the service finds get the line of their row, like all others.
 */
function tellLines(error: unknown, lines: Uint32Array): unknown {
  if (!isAppError(error) || error.violations.length === 0) return error;
  const violations = error.violations.map((violation) => toLine(violation, lines));
  return violations.every((violation) => violation !== null) ? invalidFile(violations) : error;
}

/** Null for a problem that is not about a row. */
function toLine({ path, message }: Violation, lines: Uint32Array): Violation | null {
  const [list, index, ...place] = path;
  const line = list === "rows" ? lines[Number(index)] : undefined;
  if (line === undefined) return null;
  const subject =
    place.length === 0 ? "" : `has a value as ${JSON.stringify(place.join("."))}, which `;
  return { path: ["lines", String(line)], message: `${subject}${message}` };
}
