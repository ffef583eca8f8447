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
   * Receives a file and makes a table of it, all or nothing. Few large files are taken at a time; more
   * wait before their bytes are received. Rejects with BAD_REQUEST that names the wrong fields, rows or
   * lines, PAYLOAD_TOO_LARGE, NOT_FOUND (the folder), UNAVAILABLE when too many wait.
   *
   * @param bytesExpected what the client says of its size; undefined counts as large
   */
  importTable(
    receive: () => Promise<ImportJob>,
    bytesExpected: number | undefined,
    call: RpcCallOptions,
  ): Promise<Table>;
}

/** Smaller files are taken as they come. */
const LARGE_BYTES = 1024 * 1024;
/** Each is held in memory. One a company, so that none waits long for another's slow clients. */
const FILES = { seats: 8, seatsEach: 1 };
/** Each takes a processor and the memory of a thread. */
const READERS = { seats: 2, seatsEach: 1 };
const IMPORT_TIMEOUT_MS = 300_000;

/** Makes tables through `tables`. */
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
 * The service knows rows by their index; people who have sent a file look for a line, and get the same
 * answer for what the service finds wrong with it as for the rest.
 */
function tellLines(error: unknown, lines: Uint32Array): unknown {
  if (!isAppError(error) || error.violations.length === 0) return error;
  const violations = error.violations.map((violation) => toLine(violation, lines));
  return violations.every((violation) => violation !== null) ? invalidFile(violations) : error;
}

/** Null for what is not about a row. */
function toLine({ path, message }: Violation, lines: Uint32Array): Violation | null {
  const [list, index, ...place] = path;
  const line = list === "rows" ? lines[Number(index)] : undefined;
  if (line === undefined) return null;
  const subject =
    place.length === 0 ? "" : `has a value as ${JSON.stringify(place.join("."))}, which `;
  return { path: ["lines", String(line)], message: `${subject}${message}` };
}
