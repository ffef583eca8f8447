import { createReadStream } from "node:fs";
import { extname } from "node:path";
import { Readable } from "node:stream";
import type { Column } from "@workflow/client";
import { parse } from "csv-parse";
import { z } from "zod";
import { usageError } from "../../failures.ts";

/** The format of a file with rows. */
export type Format = "csv" | "jsonl";

/** The values of one row, by column id. */
export type RowData = Record<string, unknown>;

/**
 * The format of a file: as given, else by its name.
 * @throws CliError when neither tells
 */
export function formatOf(path: string, given: Format | undefined): Format {
  if (given !== undefined) return given;
  const ending = extname(path).toLowerCase();
  if (ending === ".csv") return "csv";
  if (ending === ".jsonl" || ending === ".ndjson") return "jsonl";
  throw usageError(`${path}: say what it is with --format csv or --format jsonl.`);
}

/**
 * Streams the rows of a file, which may be larger than memory.
 * @throws CliError that names the faulty line
 */
export async function* readRows(
  path: string,
  format: Format,
  columns: readonly Column[],
): AsyncGenerator<RowData> {
  const stream = createReadStream(path);
  const text = Readable.from(textOf(stream, path));
  try {
    yield* format === "csv" ? readCsv(text, path, columns) : readJsonLines(text, path);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usageError(`${path}: ${error.message}`);
    throw error;
  } finally {
    text.destroy();
    stream.destroy();
  }
}

/** Refuses bytes that are not UTF-8: they would silently become question marks in the table. */
async function* textOf(stream: Readable, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const piece of stream) yield decoder.decode(Buffer.from(piece), { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw usageError(`${path} is no UTF-8 text.`, "Save it as UTF-8 and try again.");
  }
}

/** The parser's result for a line, with its option `info`. */
const entrySchema = z.object({
  record: z.array(z.string()),
  info: z.object({ lines: z.number() }),
});

async function* readCsv(
  stream: Readable,
  path: string,
  columns: readonly Column[],
): AsyncGenerator<RowData> {
  const parser = stream.pipe(parse({ info: true, skip_empty_lines: true }));
  stream.once("error", (error) => parser.destroy(error));
  let header: Column[] | undefined;
  try {
    for await (const entry of parser) {
      const { record, info } = entrySchema.parse(entry);
      if (header === undefined) {
        header = columnsOf(record, columns, path);
        continue;
      }
      const row: [string, unknown][] = [];
      for (const [index, column] of header.entries()) {
        const text = record[index] ?? "";
        const where = `${path}, line ${info.lines}, ${column.name}`;
        if (text !== "") row.push([column.id, toValue(text, column, where)]);
      }
      yield Object.fromEntries(row);
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("CSV_")) {
      throw usageError(`${path} is no CSV: ${error.message}`);
    }
    throw error;
  }
}

/** The columns of the table that the file's first line names, by name or id. */
function columnsOf(names: readonly string[], columns: readonly Column[], path: string): Column[] {
  const known = new Map([
    ...columns.map((column) => [column.name, column] as const),
    ...columns.map((column) => [column.id, column] as const),
  ]);
  const found = names.map((name) => {
    const column = known.get(name);
    if (column !== undefined) return column;
    throw usageError(
      `${path}: the table has no column ${name}.`,
      `It has: ${columns.map((one) => one.name).join(", ")}`,
    );
  });
  const double = found.find((column, index) => found.indexOf(column) !== index);
  if (double === undefined) return found;
  throw usageError(`${path}: the column ${double.name} comes twice.`);
}

function toValue(text: string, { type }: Column, where: string): unknown {
  if (type === "boolean") {
    if (/^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
    throw usageError(`${where}: it must be true or false.`);
  }
  if (type === "number") {
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number)) return number;
    throw usageError(`${where}: it must be a number.`);
  }
  if (type !== "json") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${where}: it must be JSON.`);
  }
}

/** Rows of JSON lines: `{id, data}` as exports write them, or the values alone. */
async function* readJsonLines(stream: Readable, path: string): AsyncGenerator<RowData> {
  let number = 0;
  for await (const line of linesOf(stream)) {
    number += 1;
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw usageError(`${path}, line ${number}: it is no JSON, or only half of it.`);
    }
    const row = rowSchema.safeParse(value);
    if (!row.success) throw usageError(`${path}, line ${number}: it must be an object.`);
    const exported = exportedSchema.safeParse(value);
    yield exported.success ? exported.data.data : row.data;
  }
}

const rowSchema = z.record(z.string(), z.unknown());
const exportedSchema = z.strictObject({ id: z.string(), data: rowSchema });

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of stream) {
    const lines = (rest + String(piece)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
