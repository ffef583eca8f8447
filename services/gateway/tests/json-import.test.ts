import { describe, expect, it } from "@jest/globals";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { openImport } from "../src/routes/table-imports/open-import.ts";

async function read(text: string) {
  const open = await openImport({ format: "json", bytes: new TextEncoder().encode(text) });
  const rows: string[] = [];
  for await (const batch of open.batches) rows.push(...batch);
  await open.close();
  return { table: open.table, rows };
}

async function refusal(text: string): Promise<AppError> {
  try {
    await read(text);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error("The body was accepted.");
}

/** Larger than what is read beside other requests. */
const PADDING = `"padding":"${"x".repeat(200_000)}"`;

describe.each([
  ["in the gateway's own thread", ""],
  ["in a thread of its own", `${PADDING},`],
])("a JSON import that is read %s", (_where, more) => {
  it("hands rows on as the texts that were sent, in their order", async () => {
    const rows = ['{"a":1.0,"__proto__":{"b":1e2}}', "{}", '{ "a" : "\\u00e9" }', '{"a":1,"a":2}'];
    const { table, rows: read1 } = await read(
      `{${more}"rows":[${rows.join(" , ")}],"name":"T","columns":[{"name":"A","type":"text"}],` +
        '"metadata":{"__proto__":1},"schema":{"x":[ ]},"maxRows":7,"unknown":[1]}',
    );
    expect(read1).toEqual(rows);
    expect(table).toMatchObject({
      name: "T",
      metadataJson: '{"__proto__":1}',
      schemaJson: '{"x":[ ]}',
      maxRows: 7,
      columns: { columns: [{ id: "", name: "A" }] },
    });
  });

  it("refuses a list of over 10,000 elements by its length, without a look at these", async () => {
    const ones = (count: number): string => `[${Array(count).fill(1).join(",")}]`;
    const listsOf = (columns: string) => `{${more}"name":"T","rows":[],"columns":${columns}}`;
    const message = "must have at most 10000 elements";
    expect((await refusal(listsOf(ones(10_001)))).violations).toEqual([
      { path: ["columns"], message },
    ]);
    const options = `[{"name":"A","type":"text"},{"name":"B","type":"select","options":${ones(10_001)}}]`;
    expect((await refusal(listsOf(options))).violations).toEqual([
      { path: ["columns", "1", "options"], message },
    ]);
    // One less, and each is looked at.
    expect((await refusal(listsOf(ones(10_000)))).violations[0]?.path).toEqual(["columns", "0"]);
  });

  it("takes the last of a member that is repeated", async () => {
    const { rows } = await read(
      `{${more}"rows":[[1],{}],"name":"T","columns":[],"rows":[{"a":1}],"rows":[{"b":1},{"c":1}]}`,
    );
    expect(rows).toEqual(['{"b":1}', '{"c":1}']);
  });

  it("tells all that is wrong with its fields and rows", async () => {
    const { reason, violations } = await refusal(
      `{${more}"name":"","columns":[{"name":"a","type":"txt"}],"maxRows":0,"rows":[{},1,"{}",[],null]}`,
    );
    expect(reason).toBe("BAD_REQUEST");
    expect(violations.map(({ path }) => path.join("."))).toEqual([
      "name",
      "columns.0.type",
      "maxRows",
      "rows.1",
      "rows.2",
      "rows.3",
      "rows.4",
    ]);
  });

  it.each([
    ['"rows":[{}', "not valid JSON"],
    ['"rows":[{},]', "not valid JSON"],
    ['"rows":[{"a":01}]', "not valid JSON"],
    [`"rows":[{"a":${"[".repeat(62)}${"]".repeat(62)}}]`, "more than 64"],
    ['"rows":[{"a":"\\u0000"}]', "NUL"],
    ['"rows":[{"\\ud800":1}]', "surrogates"],
  ])("is refused as a whole for %s", async (part, message) => {
    const { reason, message: told } = await refusal(`{${more}"name":"T","columns":[],${part}}`);
    expect(reason).toBe("BAD_REQUEST");
    expect(told).toContain(message);
  });

  it.each([
    ["", "is required"],
    [',"rows":{}', "must be an array"],
    [',"rows":null', "must be an array"],
  ])("needs its rows: %j", async (part, message) => {
    const { violations } = await refusal(`{${more}"name":"T","columns":[]${part}}`);
    expect(violations).toEqual([{ path: ["rows"], message }]);
  });
});

describe("a large JSON import", () => {
  it("comes in batches that fit one message each", async () => {
    const row = `{"a":"${"x".repeat(1_000)}"}`;
    const text = `{"name":"T","columns":[],"rows":[${Array(5_000).fill(row).join(",")}]}`;
    const open = await openImport({ format: "json", bytes: new TextEncoder().encode(text) });
    const sizes: number[] = [];
    let count = 0;
    for await (const batch of open.batches) {
      count += batch.length;
      sizes.push(batch.reduce((sum, each) => sum + each.length, 0));
    }
    await open.close();
    expect(count).toBe(5_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024);
    expect(sizes.length).toBeGreaterThan(5);
  });

  it("may be left in the middle", async () => {
    const rows = Array(20_000)
      .fill(`{"a":"${"x".repeat(100)}"}`)
      .join(",");
    const text = `{"name":"T","columns":[],"rows":[${rows}]}`;
    const open = await openImport({ format: "json", bytes: new TextEncoder().encode(text) });
    for await (const batch of open.batches) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await open.close();
  });

  it("has at most as many rows as a table", async () => {
    const text = (count: number) =>
      `{"name":"T","columns":[],"rows":[${Array(count).fill("{}").join(",")}]}`;
    expect((await read(text(100_000))).rows).toHaveLength(100_000);
    expect((await refusal(text(100_001))).violations).toEqual([
      { path: ["rows"], message: expect.stringContaining("100000 rows") },
    ]);
  });

  it("is not parsed where it is no table", async () => {
    const { reason } = await refusal(
      `{"name":"T","columns":[${Array(600_000).fill("{}").join(",")}],"rows":[]}`,
    );
    expect(reason).toBe("PAYLOAD_TOO_LARGE");
  });
});
