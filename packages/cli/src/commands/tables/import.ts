import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import type { Table, WorkflowClient } from "@workflow/client";
import { isApiError } from "@workflow/client";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError, toFailure, usageError } from "../../failures.ts";
import { readTextFile } from "../../input.ts";
import { pause } from "../../interruption.ts";
import { count } from "../../options.ts";
import { size } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";
import { findTable, TABLE_ARGUMENT } from "./find-table.ts";
import { formatOf, readRows } from "./row-file.ts";
import type { Format, RowData } from "./row-file.ts";

/** Rows and characters of one request. The service takes 1,000 rows and 8 MiB. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** The rate limits of the service count by the minute. */
const LONGEST_WAIT_MS = 60_000;

/** Adds `tables import`. */
export function addImport(parent: Command): void {
  parent
    .command("import")
    .description("Make a table from a CSV file, or add the rows of a file to a table")
    .argument("<file>", "a .csv file, or with --table a .jsonl file, too")
    .option("--table <table>", `add to this one: ${TABLE_ARGUMENT}`)
    .option("--name <name>", "name of the new table; by default the file's")
    .option(
      "--max-rows <n>",
      "how many rows the new table may have (10,000, or more where the file has)",
      count,
    )
    .addOption(
      new Option("--format <format>", "what the file is").choices(["csv", "jsonl"] as const),
    )
    .option(
      "--skip <n>",
      "leave out so many rows, which an import before has added",
      wholeNumber,
      0,
    )
    .addHelpText(
      "after",
      `
A new table comes with all of its rows, or not at all; the server finds out the types of the columns.
Rows are added to a table 1,000 at a time, each thousand as a whole. An import that is interrupted, or fails on the
way, says how many rows are in the table and how to go on.
${examples(
  "workflowctl tables import orders.csv",
  "workflowctl tables import more.csv --table Orders",
  "workflowctl tables import more.csv --table Orders --skip 3000",
)}`,
    )
    .action(
      act(async (context, path, { table, name, maxRows, format: given, skip }) => {
        const format = formatOf(path, given);
        const client = await context.connect();
        if (table === undefined) {
          if (format !== "csv")
            throw usageError("A new table is made from CSV; say --table to add rows.");
          if (skip > 0) throw usageError("--skip goes with --table.");
          return importNew(context, client, { path, name, maxRows });
        }
        const target = await findTable(client, table);
        await addToTable(context, client, { path, format, table: target, skip, given: table });
      }),
    );
}

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

interface NewTableImport {
  path: string;
  name: string | undefined;
  maxRows: number | undefined;
}

async function importNew(
  { out, signal }: Context,
  client: WorkflowClient,
  { path, name, maxRows }: NewTableImport,
): Promise<void> {
  const text = await readTextFile(path);
  const query = {
    format: "csv" as const,
    name: name ?? basename(path, extname(path)),
    ...(maxRows === undefined ? {} : { maxRows }),
  };
  const progress = startProgress({
    label: `Sending ${size(Buffer.byteLength(text))}`,
    total: null,
    format: () => "…",
  });
  try {
    const table = await client.tables.import(text, {
      query,
      signal,
      timeoutMs: 300_000,
    });
    progress.end();
    showTable({ out }, table);
  } catch (error) {
    progress.end();
    const failure = toFailure(error);
    if (!signal.aborted && failure.exitCode !== EXIT.unreachable) throw error;
    throw new CliError(
      "The import was cut short: the table was made with all of its rows, or not at all.",
      signal.aborted ? EXIT.interrupted : EXIT.unreachable,
      { cause: error, hints: ["Look whether it is there: workflowctl tables list"] },
    );
  }
}

function showTable({ out }: Pick<Context, "out">, table: Table): void {
  out.show(table, [`Table ${table.id} has ${table.rowCount} rows.`]);
}

interface Addition {
  path: string;
  format: Format;
  table: Table;
  /** The table's id or name as the person typed it. */
  given: string;
  skip: number;
}

async function addToTable(
  { out, signal }: Context,
  client: WorkflowClient,
  addition: Addition,
): Promise<void> {
  const { path, format, table, skip } = addition;
  const { size: bytes } = await stat(path).catch(() => {
    throw usageError(`${path} cannot be read.`);
  });
  if (bytes === 0) throw usageError(`${path} is empty.`);
  const total = await countRows(path, format, table);
  if (skip > total) throw usageError(`--skip ${skip}: the file has only ${total} rows.`);
  const progress = startProgress({ label: "Importing", total });
  let done = skip;
  try {
    progress.update(done);
    for await (const batch of batches(readRows(path, format, table.columns), skip)) {
      await addBatch(client, { tableId: table.id, batch, signal });
      done += batch.length;
      progress.update(done);
    }
  } catch (error) {
    progress.end();
    throw cutShort(error, { ...addition, done, total, isInterrupted: signal.aborted });
  }
  progress.end();
  out.show({ tableId: table.id, added: done - skip, skipped: skip }, [
    `${done - skip} rows were added to ${table.id}.`,
  ]);
}

/**
 * Adds rows as soon as the server takes them. An interruption waits for the answer to rows that were sent.
 */
async function addBatch(
  client: WorkflowClient,
  { tableId, batch, signal }: { tableId: string; batch: RowData[]; signal: AbortSignal },
): Promise<void> {
  const insert = batch.map((data) => ({ data }));
  for (;;) {
    signal.throwIfAborted();
    try {
      await client.rows.batch(tableId, { insert }, { maxRetries: 0 });
      return;
    } catch (error) {
      if (!isApiError(error, "RATE_LIMITED")) throw error;
      const { retryAfterMs } = error;
      if (retryAfterMs === null || retryAfterMs > LONGEST_WAIT_MS) throw error;
      await pause(retryAfterMs, signal);
    }
  }
}

/** Reads the whole file first, so that its faults are known before anything is sent. */
async function countRows(path: string, format: Format, table: Table): Promise<number> {
  let rows = 0;
  for await (const _ of readRows(path, format, table.columns)) rows += 1;
  return rows;
}

async function* batches(rows: AsyncIterable<RowData>, skip: number): AsyncGenerator<RowData[]> {
  let batch: RowData[] = [];
  let bytes = 0;
  let number = 0;
  for await (const row of rows) {
    number += 1;
    if (number <= skip) continue;
    const rowBytes = Buffer.byteLength(JSON.stringify(row));
    if (batch.length > 0 && (batch.length === BATCH_ROWS || bytes + rowBytes > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += rowBytes;
  }
  if (batch.length > 0) yield batch;
}

interface CutShort extends Addition {
  done: number;
  total: number;
  isInterrupted: boolean;
}

/** The error that ends an import early, with what was done and how to continue. */
function cutShort(error: unknown, cut: CutShort): CliError {
  const { path, given, format, skip, done, total, isInterrupted } = cut;
  const failure = toFailure(error);
  const isKnown = isInterrupted || isApiError(error);
  const exitCode = isInterrupted ? EXIT.interrupted : failure.exitCode;
  const reason = isInterrupted ? "Interrupted" : failure.message.replace(/\.$/, "");
  return new CliError(
    `${reason}: ${done - skip} rows were added, ${done} of ${total} rows of the file are done.`,
    exitCode,
    {
      cause: error,
      hints: [
        ...(isInterrupted ? [] : failure.hints),
        ...(isKnown
          ? []
          : [
              `No answer came for the rows after ${done}, so they may be there: look at tables list before you go on.`,
            ]),
        `Go on: workflowctl tables import ${quoted(path)} --table ${quoted(given)} --format ${format} --skip ${done}`,
      ],
      details: { added: done - skip, done, total, isCertain: isKnown },
    },
  );
}

function quoted(word: string): string {
  return /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
