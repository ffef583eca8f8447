import { describe, expect, it } from "@jest/globals";
import { isAppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import type { CsvImportFields } from "../src/routes/table-imports/csv-import-fields.ts";
import { openImport } from "../src/routes/table-imports/open-import.ts";

const TYPE_NAMES = new Map(Object.entries(ColumnType).map(([name, type]) => [type, name]));

async function read(file: string | Uint8Array, fields: Partial<CsvImportFields> = {}) {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  const options = { name: "T", description: "", folderId: "", rowEvents: false, columns: [] };
  const open = await openImport({ format: "csv", bytes, fields: { ...options, ...fields } });
  const rows: unknown[] = [];
  for await (const batch of open.batches) rows.push(...batch.map((text) => JSON.parse(text)));
  await open.close();
  const columns = open.table.columns?.columns ?? [];
  return {
    types: columns.map(({ type }) => TYPE_NAMES.get(type)),
    ids: columns.map(({ id }) => id),
    rows,
    lines: [...(open.lines ?? [])],
  };
}

async function refusal(
  file: string | Uint8Array,
  fields?: Partial<CsvImportFields>,
): Promise<{ message: string; violations: readonly Violation[] }> {
  try {
    await read(file, fields);
  } catch (error) {
    if (isAppError(error) && error.reason === "BAD_REQUEST") return error;
    throw error;
  }
  throw new Error("The file was accepted.");
}

/** The type that a column of these values is given. */
async function typeOf(...values: string[]): Promise<string | undefined> {
  const quoted = values.map((value) => `"${value.replaceAll('"', '""')}",x\n`);
  return (await read(`value,other\n${quoted.join("")}`)).types[0];
}

describe("the type of a CSV column", () => {
  it.each([
    ["NUMBER", ["1", "-2.50", "0", "0.1", "9007199254740991", "-9007199254740991"]],
    ["NUMBER", ["0.30000000000000004", "123456789.123450000"]],
    ["BOOLEAN", ["true", "false", "TRUE", "FALSE"]],
    ["DATE", ["2024-02-29", "0001-01-01", "9999-12-31"]],
    ["EMAIL", ["a@b.co", "first.last+tag@sub.example.org"]],
    ["URL", ["https://example.com/a?b=c", "http://x"]],
    ["NUMBER", ["", "1", ""]],
  ])("is %s when all values are: %j", async (type, values) => {
    expect(await typeOf(...values)).toBe(type);
  });

  it.each([
    [["0042"]],
    [["-01"]],
    [["+1"]],
    [["1e5"]],
    [["1,5"]],
    [["1 000"]],
    [[" 1"]],
    [["1."]],
    [[".5"]],
    [["0x10"]],
    [["NaN"]],
    [["Infinity"]],
    [["9007199254740992"]],
    [["12345678901234567890"]],
    [["0.1234567890123456789"]],
    [["2023-02-29"]],
    [["2024-1-1"]],
    [["0000-01-01"]],
    [["2024-01-01T00:00:00Z"]],
    [["True"]],
    [["yes"]],
    [["a@b"]],
    [["@b.co"]],
    [["a b@c.de"]],
    [["ftp://x.y"]],
    [["http://"]],
    [["example.com"]],
    [["1", "true"]],
    [["1", "2024-01-01"]],
    [["a@b.co", "https://x.y"]],
    [["", ""]],
  ])("is text for what could lose its meaning, or is mixed: %j", async (values) => {
    expect(await typeOf(...values)).toBe("TEXT");
  });

  it("keeps the values as what they are", async () => {
    const file = "n,b,d,t\n-2.50,TRUE,2024-01-31,0042\n,,,\n";
    expect((await read(file)).rows).toEqual([{ n: -2.5, b: true, d: "2024-01-31", t: "0042" }, {}]);
  });

  it("is the one that the caller names", async () => {
    const columns = [
      { name: "n", type: "text" },
      { name: "e", type: "number", id: "col_e" },
      { name: "j", type: "json" },
      { name: "s", type: "select", options: ["a"] },
    ] as const;
    const file = 'n,e,j,s,rest\n1,1e3,"[1,{""a"":null}]",b,2\n';
    const { types, ids, rows } = await read(file, {
      columns: columns.map((column) => ({
        ...column,
        ...("options" in column ? { options: [...column.options] } : { options: undefined }),
      })),
    });
    expect(types).toEqual(["TEXT", "NUMBER", "JSON", "SELECT", "NUMBER"]);
    expect(ids).toEqual(["n", "col_e", "j", "s", "rest"]);
    expect(rows).toEqual([{ n: "1", col_e: 1000, j: [1, { a: null }], s: "b", rest: 2 }]);
  });

  it.each([
    ["number", "x", "must be a number"],
    ["number", "0x1", "must be a number"],
    ["number", "01", "must be a number"],
    ["boolean", "yes", "must be true or false"],
    ["date", "2024-02-30", "must be a day"],
    ["json", "{", "must be JSON"],
    ["json", '1,""b"":2', "must be JSON"],
    ["json", "[".repeat(70) + "]".repeat(70), "must be JSON"],
    ["number", "9007199254740993", "is a number that would not be kept"],
    ["number", "-12345678901234567890", "is a number that would not be kept"],
    ["number", "1e400", "is a number that would not be kept"],
    ["json", "9007199254740993", "which is a number that would not be kept"],
    ["json", '{""b"":[1e400]}', "which at b.0 is a number that would not be kept"],
  ] as const)("refuses what is no %s: %s", async (type, value, message) => {
    const file = `a,c\n,1\n"${value}",2\n`;
    const { violations } = await refusal(file, { columns: [{ name: "a", type }] });
    expect(violations).toEqual([
      { path: ["lines", "3"], message: expect.stringContaining(message) },
    ]);
  });

  it("may be named for numbers with an exponent, and as large as doubles are", async () => {
    const columns = [{ name: "a", type: "number" } as const];
    const file = "a\n9007199254740992\n1e21\n1.5e308\n5e-324\n";
    expect((await read(file, { columns })).rows).toEqual([
      { a: 2 ** 53 },
      { a: 1e21 },
      { a: 1.5e308 },
      { a: 5e-324 },
    ]);
  });

  it("cannot be named for a column that the file does not have, nor twice", async () => {
    const { violations } = await refusal("a,b\n1,2\n", {
      columns: [
        { name: "a", type: "text" },
        { name: "A", type: "text" },
        { name: "a", type: "number" },
      ],
    });
    expect(violations.map(({ path }) => path)).toEqual([
      ["columns", "1", "name"],
      ["columns", "2", "name"],
    ]);
  });
});

describe("the form of a CSV file", () => {
  it("may be any of RFC 4180 and its relatives", async () => {
    const wanted = [{ a: 'x, "y"', b: "1\r\n2" }, { a: "é😀" }];
    for (const [file, delimiter] of [
      ['a,b\r\n"x, ""y""","1\r\n2"\r\né😀,\r\n', undefined],
      ['\ufeffa,b\n"x, ""y""","1\r\n2"\n\né😀,""', undefined],
      ['a;b\r"x, ""y""";"1\r\n2"\ré😀;\r', undefined],
      ['a\tb\n"x, ""y"""\t"1\r\n2"\r\né😀\t\r', undefined],
      ['a|b\n"x, ""y"""|"1\r\n2"\né😀|\n', "|"],
      ['"a",b\n"x, ""y""","1\r\n2"\né😀,\n', ","],
    ] as const) {
      const { rows } = await read(file, delimiter === undefined ? {} : { delimiter });
      expect(rows).toEqual(wanted);
    }
  });

  it("has the delimiter that its header has most often outside quotes", async () => {
    expect((await read('"a,b,c";d\n1;2\n')).ids).toEqual(["a,b,c", "d"]);
    expect((await read("only\n1,5\n", { delimiter: ";" })).rows).toEqual([{ only: "1,5" }]);
    expect((await read("a;b\n1;2\n", { delimiter: "," })).ids).toEqual(["a;b"]);
  });

  it("may have a header alone, and one column with empty values", async () => {
    expect(await read("a,b\n")).toMatchObject({ types: ["TEXT", "TEXT"], rows: [] });
    expect((await read('a\n""\n\n1\n')).rows).toEqual([{}, { a: 1 }]);
  });

  it("may name columns in ways that are special elsewhere", async () => {
    const { ids, rows } = await read('__proto__,constructor,a/b,ü,"x\ny"\n1,2,3,4,5\n');
    expect(ids).toEqual(["__proto__", "constructor", "a/b", "ü", "x\ny"]);
    expect(rows.map((row) => JSON.stringify(row))).toEqual([
      '{"__proto__":1,"constructor":2,"a/b":3,"ü":4,"x\\ny":5}',
    ]);
  });

  it("tells lines as an editor counts them", async () => {
    const { lines } = await read('a,b\r\n1,2\r\n\r\n"x\r\ny\nz",3\r\n4,5\r\n');
    expect(lines).toEqual([2, 4, 7]);
  });

  it.each([
    ["nothing", "", [["1", "must name the columns"]]],
    ["empty lines", "\n\n", [["1", "must name the columns"]]],
    ["a column without a name", "a,\n1,2\n", [["1", "no name for column 2"]]],
    ["a name that is too long", `${"x".repeat(256)}\n`, [["1", "more than 255"]]],
    ["a name that is there twice", "a,b,a\n", [["1", '"a" twice']]],
    ["a NUL in a name", "a\0\n1\n", [["1", "NUL"]]],
    ["a NUL in a value", "a,b\n1,2\n\0,3\n", [["3", "NUL"]]],
    [
      "lines that are too short or too long",
      "a,b\n1\n2,3\n4,5,6\n",
      [
        ["2", "has 1 value"],
        ["4", "has 3 values"],
      ],
    ],
    ["a quote that is not closed", 'a,b\n1,2\n3,"x\n4,5\n', [["3", "never closed"]]],
    ["text behind a quote", 'a,b\n"x"y,2\n', [["2", "behind a closing quote"]]],
    ["a quote within a value", 'a,b\nx"y,2\n', [["2", "does not begin with one"]]],
    [
      "several things",
      'a,b\n1\n"x"y,2\n3\n',
      [
        ["2", "has 1 value"],
        ["3", "behind a closing quote"],
      ],
    ],
  ])("is refused with its lines: %s", async (_what, file, wanted) => {
    const { violations } = await refusal(file);
    expect(violations).toEqual(
      wanted.map(([line, message]) => ({
        path: ["lines", line],
        message: expect.stringContaining(message ?? ""),
      })),
    );
  });

  it("is refused when it is not UTF-8", async () => {
    const latin1 = Buffer.from("a,b\né,1\n", "latin1");
    expect((await refusal(latin1)).message).toContain("UTF-8");
    expect((await refusal(Buffer.from("\ufeffa,b\n1,2\n", "utf16le"))).message).toContain("UTF-8");
  });

  it("is told fifty problems at most", async () => {
    const fifty = await refusal(`a,b\n${"1\n".repeat(50)}`);
    expect(fifty.violations).toHaveLength(50);
    const more = await refusal(`a,b\n${"1\n".repeat(5_000)}`);
    expect(more.violations).toEqual(fifty.violations);
  });

  it("may have as many rows as a table, and not one more", async () => {
    const { rows } = await read(`a\n${"1\n".repeat(100_000)}`);
    expect(rows).toHaveLength(100_000);
    const { violations } = await refusal(`a\n${"1\n".repeat(100_001)}`);
    expect(violations).toEqual([
      { path: ["lines", "100002"], message: expect.stringContaining("100000 rows") },
    ]);
  });

  it("is read the same in a thread as beside it", async () => {
    const file = `a,b\n${Array.from({ length: 20_000 }, (_, n) => `${n},"x ""${n}"""\n`).join("")}`;
    const { rows, types } = await read(file);
    expect(types).toEqual(["NUMBER", "TEXT"]);
    expect(rows).toHaveLength(20_000);
    expect(rows[19_999]).toEqual({ a: 19_999, b: 'x "19999"' });
    const { violations } = await refusal(`${file}1\n`);
    expect(violations).toEqual([
      { path: ["lines", "20002"], message: expect.stringContaining("has 1 value") },
    ]);
  });
});
