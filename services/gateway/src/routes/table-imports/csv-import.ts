import { invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { columnList } from "../tables/table-fields.ts";
import type { ColumnFields } from "../tables/table-fields.ts";
import { createLineProblems, invalidFile, readCsv, VALUE_SEPARATOR } from "./csv-records.ts";
import type { LineProblems } from "./csv-records.ts";
import type { CsvImportFields } from "./csv-import-fields.ts";
import { READERS, TypeGuess } from "./csv-values.ts";
import type { ValueReader } from "./csv-values.ts";
import { inBatches } from "./import-plan.ts";
import type { ImportPlan } from "./import-plan.ts";

/** A column of the file. */
interface FileColumn {
  name: string;
  /** The caller's declaration of the column. */
  given: ColumnFields | undefined;
  /** Reads the values of a column whose type the caller has declared. */
  reader: ValueReader | undefined;
  /** Recognizes the type of a column without a declared one. */
  guess: TypeGuess;
}

const HEADER_LINE = 1;

/**
 * Reads a CSV file whose header names the columns. A column has its declared type, or the type that
 * fits all of its values. Rows omit empty values.
 *
 * @throws AppError BAD_REQUEST that names the bad lines, at most fifty
 */
export function readCsvImport(bytes: Uint8Array, fields: CsvImportFields): ImportPlan {
  const problems = createLineProblems();
  let columns: FileColumn[] = [];
  const { records, lines, header } = readCsv(bytes, fields.delimiter, {
    problems,
    onHeader: (names) => {
      checkHeader(names, problems);
      columns = toFileColumns(names, fields.columns);
    },
    onRecord: (line, values) => checkValues(line, values, columns, problems),
  });
  if (header.length === 0) problems.add(HEADER_LINE, "must name the columns");
  if (problems.violations.length > 0) throw invalidFile(problems.violations);
  const declared = columns.map(toColumn);
  return {
    table: {
      name: fields.name,
      description: fields.description,
      columns: columnList(declared),
      schemaJson: "",
      metadataJson: "",
      maxRows: fields.maxRows,
      rowEvents: fields.rowEvents,
      folderId: fields.folderId,
    },
    batches: inBatches(toRows(records, declared)),
    lines,
  };
}

function checkHeader(names: readonly string[], problems: LineProblems): void {
  const seen = new Set<string>();
  for (const [index, name] of names.entries()) {
    const place = `column ${index + 1}`;
    if (name === "") problems.add(HEADER_LINE, `has no name for ${place}`);
    else if (Array.from(name).length > 255) {
      problems.add(HEADER_LINE, `has a name of more than 255 characters for ${place}`);
    } else if (name.includes(VALUE_SEPARATOR)) {
      problems.add(HEADER_LINE, `has a NUL character in the name of ${place}`);
    } else if (seen.has(name))
      problems.add(HEADER_LINE, `has the name ${JSON.stringify(name)} twice`);
    seen.add(name);
  }
}

function toFileColumns(names: readonly string[], given: readonly ColumnFields[]): FileColumn[] {
  const violations: Violation[] = [];
  const byName = new Map<string, ColumnFields>();
  for (const [index, column] of given.entries()) {
    const path = ["columns", String(index), "name"];
    if (!names.includes(column.name)) {
      violations.push({ path, message: "must be a name in the file's header" });
    } else if (byName.has(column.name)) violations.push({ path, message: "must be given once" });
    byName.set(column.name, column);
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return names.map((name) => {
    const column = byName.get(name);
    const reader = column === undefined ? undefined : READERS[column.type];
    return { name, given: column, reader, guess: new TypeGuess() };
  });
}

function checkValues(
  line: number,
  values: readonly string[],
  columns: readonly FileColumn[],
  problems: LineProblems,
): void {
  for (const [index, value] of values.entries()) {
    const column = columns[index];
    if (value === "" || column === undefined) continue;
    const { name, reader, guess } = column;
    if (reader === undefined) guess.see(value);
    else {
      const problem = reader.problemWith(value);
      if (problem === null) continue;
      problems.add(line, `has ${excerpt(value)} as ${JSON.stringify(name)}, which ${problem}`);
    }
  }
}

const EXCERPT_CHARS = 40;

function excerpt(value: string): string {
  const isLong = value.length > EXCERPT_CHARS;
  return JSON.stringify(isLong ? `${value.slice(0, EXCERPT_CHARS).toWellFormed()}…` : value);
}

/** In an import a column without an id has its name for one. */
function toColumn({ name, given, guess }: FileColumn): ColumnFields & { id: string } {
  return given === undefined
    ? { id: name, name, type: guess.type }
    : { ...given, id: given.id ?? name };
}

function* toRows(
  records: readonly string[],
  columns: readonly (ColumnFields & { id: string })[],
): Generator<string> {
  const writers = columns.map(({ id, type }) => ({
    key: `${JSON.stringify(id)}:`,
    reader: READERS[type],
  }));
  for (const record of records) {
    let members = "";
    for (const [index, value] of record.split(VALUE_SEPARATOR).entries()) {
      const writer = writers[index];
      if (value === "" || writer === undefined) continue;
      members += `${members === "" ? "" : ","}${writer.key}${writer.reader.toJson(value)}`;
    }
    yield `{${members}}`;
  }
}
