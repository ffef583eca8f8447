import { execFile } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

const tableSchema = z.object({ id: z.string(), name: z.string(), rowCount: z.number() });

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});

const columns = [
  { id: "name", name: "Name", type: "text" },
  { id: "age", name: "Age", type: "number" },
  { id: "ok", name: "Ok", type: "boolean" },
];

async function makeTable(name: string): Promise<string> {
  const { data } = await system.call("POST", "/tables", { body: { name, columns } });
  return z.object({ id: z.string() }).parse(data).id;
}

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(cli.dir, name);
  await writeFile(path, text);
  return path;
}

const csvOf = (rows: number): string =>
  `Name,Age,Ok\n${Array.from({ length: rows }, (_, row) => `Person ${row},${row},true\n`).join("")}`;

async function countOf(table: string): Promise<number> {
  const { data } = await system.call("GET", `/tables/${table}`);
  return tableSchema.parse(data).rowCount;
}

describe("a table", () => {
  test("is made from a CSV file, listed, shown and exported", async () => {
    const path = await file("people.csv", 'name,age\nAda,36\n"Zoë, the ""one""",5\n');
    const table = await cli.json(tableSchema, ["tables", "import", path]);
    expect(table).toMatchObject({ name: "people", rowCount: 2 });
    expect((await cli.run(["tables", "list"])).stdout).toMatch(/ people$/m);
    const filter = '{"age":{"condition":{"operator":"greater_than","value":10}}}';
    const rows = await cli.run(["tables", "rows", "people", "--filter", filter]);
    expect(rows.stdout).toMatch(/^ID +NAME +AGE\n[0-9a-f-]+ {2}Ada +36\n$/);
    const csv = await cli.run(["tables", "export", "people"]);
    expect(csv.stdout.split(/\r?\n/)).toContain("Ada,36");
    const out = join(cli.dir, "out.jsonl");
    const exported = await cli.run(["tables", "export", "people", "--format", "jsonl", "-o", out]);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    expect((await readFile(out, "utf8")).trim().split("\n")).toHaveLength(2);
    const copy = await cli.run(["tables", "import", out, "--table", "people"]);
    expect(copy).toMatchObject({ code: 0, stdout: expect.stringContaining("2 rows were added") });
    expect(await countOf(table.id)).toBe(4);
  });

  test("gets thousands of rows with a progress bar on a terminal", async () => {
    const table = await makeTable("Many");
    const path = await file("many.csv", csvOf(2_500));
    const terminal = cli.terminal(["tables", "import", path, "--table", table]);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toMatch(/\[#+-*\] \d+ % \d+ of 2500/);
    expect(stripVTControlCharacters(terminal.screen())).toContain("2500 rows were added");
    const { data } = await system.call("POST", `/tables/${table}/rows/query`, {
      body: { limit: 1 },
    });
    expect(data).toMatchObject([{ data: { name: "Person 0", age: 0, ok: true } }]);
    expect(await countOf(table)).toBe(2_500);
  });

  test("draws its progress in one line, however narrow the terminal is, and for an empty file", async () => {
    const table = await makeTable("Narrow");
    for (const [name, text] of [
      ["narrow.csv", csvOf(2_500)],
      ["head.csv", csvOf(0)],
    ] as const) {
      const path = await file(name, text);
      const args = ["tables", "import", path, "--table", table];
      const terminal = cli.terminal(args, {}, { columns: 20 });
      expect(await terminal.ended).toBe(0);
      const [bars = ""] = terminal.screen().split(/\d+ rows were added/);
      const frames = bars.split("\r").map((frame) => stripVTControlCharacters(frame).trimEnd());
      expect(Math.max(...frames.map(({ length }) => length))).toBeLessThan(20);
      expect(bars).not.toContain("NaN");
    }
  });

  test("has no progress on a terminal that moves no cursor", async () => {
    const table = await makeTable("Dumb");
    const path = await file("dumb.csv", csvOf(1_500));
    const args = ["tables", "import", path, "--table", table];
    const terminal = cli.terminal(args, { TERM: "dumb" });
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).not.toContain("\u001b");
  });

  test.each([
    ["a broken quote", 'Name,Age\n"Ada,1\n', /no CSV/],
    ["a wrong number", "Name,Age\nAda,many\n", /line 2, Age: it must be a number/],
    ["a column that the table has not", "Name,Height\nAda,3\n", /no column Height/],
    ["too many values", "Name,Age\nAda,1,2\n", /no CSV/],
    ["nothing", "", /empty/],
    ["a column that comes twice", "Name,name\nAda,Bob\n", /column Name comes twice/],
    ["a column of the language's own", "Name,__proto__\nAda,1\n", /no column __proto__/],
    ["another encoding than UTF-8", Buffer.from("Name\nZo\u00eb\n", "latin1"), /no UTF-8/],
  ])("gets no row of a file with %s", async (what, text, message) => {
    const table = await makeTable(`Untouched by ${what}`);
    const path = await file("wrong.csv", text);
    const added = await cli.run(["tables", "import", path, "--table", table]);
    expect(added).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
    expect(await countOf(table)).toBe(0);
  });

  test("gets no row of a file that is half written", async () => {
    const table = await makeTable("Untouched by half");
    const path = await file("half.jsonl", '{"name":"Ada"}\n{"name":"Zo');
    const added = await cli.run(["tables", "import", path, "--table", table]);
    expect(added).toMatchObject({ code: 2, stderr: expect.stringContaining("line 2") });
    expect(await countOf(table)).toBe(0);
  });
});

describe("an import that does not come to its end", () => {
  test("says what was done when the table is full, and goes on where it was", async () => {
    const table = await makeTable("Full");
    await system.call("PATCH", `/tables/${table}`, { body: { maxRows: 1_200 } });
    const path = await file("full.csv", csvOf(2_100));
    const full = await cli.run(["tables", "import", path, "--table", table]);
    expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining("1000 of 2100 rows") });
    expect(full.stderr).toContain("request id:");
    expect(await countOf(table)).toBe(1_000);
    await system.call("PATCH", `/tables/${table}`, { body: { maxRows: 10_000 } });
    const [, line = ""] = /Go on: (.*)/.exec(full.stderr) ?? [];
    expect(await cli.shell(line)).toMatchObject({ code: 0 });
    expect(await countOf(table)).toBe(2_100);
  });

  test("says what was done when it is interrupted, after the rows that are on their way", async () => {
    const held = Promise.withResolvers<void>();
    let batches = 0;
    const double = await startHttpDouble(async ({ method }) => {
      if (method === "GET") return { body: { success: true, data: { id: UUID, columns } } };
      batches += 1;
      if (batches === 2) await held.promise;
      return { body: { success: true, data: { inserted: [], updated: [], deleted: [] } } };
    });
    const path = await file("cut.csv", csvOf(3_500));
    const started = cli.start(["tables", "import", path, "--table", UUID], {
      env: { WORKFLOW_URL: double.url },
    });
    await waitFor(() => batches === 2);
    started.child.kill("SIGINT");
    await waitFor(() => started.said.stderr.includes("on its way"));
    held.resolve();
    const ended = await started.ended;
    await double.close();
    expect(ended).toMatchObject({ code: 130, stdout: "" });
    expect(ended.stderr).toContain("2000 of 3500 rows of the file are done");
    expect(ended.stderr).toContain(`--table ${UUID} --format csv --skip 2000`);
    expect(batches).toBe(2);
  });

  test("does not claim to know of rows for which no answer came", async () => {
    const double = await startHttpDouble(({ method }, response) => {
      if (method === "GET") return { body: { success: true, data: { id: UUID, columns } } };
      response.destroy();
      return undefined;
    });
    const path = await file("unknown.csv", csvOf(10));
    const ended = await cli.run(["tables", "import", path, "--table", UUID], {
      env: { WORKFLOW_URL: double.url },
    });
    await double.close();
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("they may be there") });
  });
});

describe("an export to something that is there already", () => {
  test("is written into what is no file, and never put in its place", async () => {
    const table = await makeTable("Into a pipe");
    const pipe = join(cli.dir, "pipe");
    await promisify(execFile)("mkfifo", [pipe]);
    const reading = readFile(pipe, "utf8");
    const exported = await cli.run(["tables", "export", table, "-o", pipe]);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    expect(await reading).toMatch(/^Name,Age,Ok/);
    expect((await lstat(pipe)).isFIFO()).toBe(true);
  });

  test("replaces what a link leads to, and leaves link and rights as they are", async () => {
    const table = await makeTable("Through a link");
    const [link, target] = [join(cli.dir, "link.csv"), await file("target.csv", "old")];
    await chmod(target, 0o600);
    await symlink("target.csv", link);
    expect(await cli.run(["tables", "export", table, "-o", link])).toMatchObject({ code: 0 });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, "utf8")).toMatch(/^Name,Age,Ok/);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
  });

  test("leaves a folder alone, and says so", async () => {
    const table = await makeTable("Onto a folder");
    const folder = join(cli.dir, "folder");
    await mkdir(folder);
    const exported = await cli.run(["tables", "export", table, "-o", folder]);
    expect(exported).toMatchObject({ code: 8, stderr: expect.stringContaining("EISDIR") });
    expect(await readdir(cli.dir)).not.toContainEqual(expect.stringMatching(/tmp$/));
  });
});

describe("an export that is cut", () => {
  test("leaves no file that looks whole", async () => {
    const double = await startHttpDouble(({ path }, response) => {
      if (!path.includes("export")) return { body: { success: true, data: { id: UUID, columns } } };
      response.writeHead(200, { "content-type": "text/csv", "content-length": "1000" });
      response.write("Name,Age,Ok\n", () => response.socket?.end());
      return undefined;
    });
    const out = join(cli.dir, "cut-export.csv");
    const ended = await cli.run(["tables", "export", UUID, "-o", out], {
      env: { WORKFLOW_URL: double.url },
    });
    await double.close();
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("was not written") });
    expect(await readdir(cli.dir)).not.toContainEqual(expect.stringContaining("cut-export"));
  });
});

const UUID = "0199a5a0-0000-7000-8000-000000000001";
