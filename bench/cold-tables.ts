import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { migrate, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import { pino } from "pino";
import { z } from "zod";
import { CompanyConnections } from "../services/tables/src/company-connections.ts";
import type { Column } from "../services/tables/src/domain/column.ts";
import type { RowQuery } from "../services/tables/src/domain/row-query.ts";
import { findTableHead } from "../services/tables/src/store/states.ts";
import type { TableHead } from "../services/tables/src/store/states.ts";
import { TableThreads } from "../services/tables/src/threads/index.ts";
import { cpuTimeMs } from "./cpu-time.ts";
import { readMeter } from "./postgres-meter.ts";
import { medianOf } from "./statistics.ts";
import { COLUMNS, makeRows } from "./table-rows.ts";

const USAGE = `node bench/cold-tables.ts [--rows n] [--rounds n]

  --rows    of the large table, 100,000 by default
  --rounds  of each question, 7 by default; medians are told

Asks a table of data of which nothing is in memory, on a Postgres of its own. The thread that answers is warm.`;

const COMPANY = "00000000-0000-4000-8000-000000000001";
const SMALL_ROWS = 1_000;
const THREAD_MB = 512;

/** The cost of one question. */
interface Cost {
  ms: number;
  nodeMs: number;
  postgresMs: number;
  statements: number;
}

type Ask = (head: TableHead) => Promise<unknown>;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: "string", default: "100000" },
      rounds: { type: "string", default: "7" },
    },
  });
  const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
  if (!Number.isInteger(rows) || !Number.isInteger(rounds) || rows < 1 || rounds < 1) {
    console.error(USAGE);
    return 2;
  }
  await using scope = createScope();
  await measure(scope, rows, rounds);
  return 0;
}

async function measure(scope: Scope, rows: number, rounds: number): Promise<void> {
  const databaseUrl = await startPostgres(scope);
  const opened = await openDatabase({
    connectionUri: databaseUrl,
    role: "workflow_tables",
    applicationName: "cold-tables",
    maxConnections: 10,
  });
  scope.defer(() => opened.end());
  const meter = new Client({ connectionString: databaseUrl });
  await meter.connect();
  scope.defer(() => meter.end());
  let statements = 0;
  const database: Database = Object.create(opened);
  Object.assign(database, {
    any: (...query: Parameters<Database["any"]>) => {
      statements += 1;
      return opened.any(...query);
    },
  });
  const reader = new TableThreads({
    connections: new CompanyConnections(database),
    threads: 1,
    cacheBytesMax: THREAD_MB * 1024 * 1024,
    logger: pino({ level: "warn" }),
  });
  scope.defer(() => reader.stop());
  const costOf = async (head: TableHead, ask: Ask): Promise<Cost> => {
    reader.invalidate(head);
    statements = 0;
    const before = await readMeter(meter, process.pid);
    const startedAt = performance.now();
    await ask(head);
    const ms = performance.now() - startedAt;
    const asked = statements;
    const { postgresMs } = await readMeter(meter, process.pid);
    const nodeMs = cpuTimeMs(process.pid) - before.nodeMs;
    return { ms, nodeMs, postgresMs: postgresMs - before.postgresMs, statements: asked };
  };
  const large = await fillTable(opened, "00000000-0000-4000-8000-0000000000aa", rows);
  const small = await fillTable(opened, "00000000-0000-4000-8000-0000000000bb", SMALL_ROWS);
  console.log(`${rows} rows; medians of ${rounds} rounds`);
  for (const [name, ask] of questions(reader)) {
    for (const head of [large, small]) {
      // The first question compiles the code.
      await costOf(head, ask);
      const costs: Cost[] = [];
      for (let round = 0; round < rounds; round += 1) costs.push(await costOf(head, ask));
      const median = (part: keyof Cost) => medianOf(costs, (cost) => cost[part]).toFixed(0);
      console.log(
        `${head === large ? "large" : "small"} ${name}: ${median("ms")} ms, ` +
          `CPU ${median("nodeMs")} + Postgres ${median("postgresMs")} ms, ` +
          `${median("statements")} statements`,
      );
    }
  }
}

/** Questions that each use other columns, of a table that is not in memory. */
function questions(reader: TableThreads): Map<string, Ask> {
  const page = (query: Pick<RowQuery, "filter" | "sort">) => (head: TableHead) =>
    reader.page(head, { ...query, limit: 50, offset: 0 });
  const above = (id: string, value: number): RowQuery["filter"][number] => ({
    kind: "column",
    column: columnOf(id),
    condition: { on: "number", operator: "greater_than", value },
  });
  const sorted = (id: string) => ({ column: columnOf(id), descending: false });
  const figures = ["amount", "quantity", "due", "name", "email", "notes"];
  return new Map<string, Ask>([
    ["filter by a number", page({ filter: [above("amount", 900_000)], sort: null })],
    ["sort by a text", page({ filter: [], sort: sorted("name") })],
    [
      "filter by a number, sort by a text",
      page({ filter: [above("amount", 500_000)], sort: sorted("name") }),
    ],
    [
      "six figures",
      (head) =>
        reader.figures(head, {
          filter: [],
          groupBy: null,
          measures: figures.map((id) => ({ function: "count", column: columnOf(id) })),
        }),
    ],
  ]);
}

function columnOf(id: string): Column {
  const column = COLUMNS.find((each) => each.id === id);
  if (column === undefined) throw new Error(`There is no column ${id}.`);
  return column;
}

async function startPostgres(scope: Scope): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "workflow-cold-"));
  scope.defer(() => rm(dataDir, { recursive: true, force: true }));
  const server = await startLocalPostgres({ dataDir, durable: false });
  scope.defer(() => server.stop());
  const directory = join(import.meta.dirname, "../services/tables/migrations");
  await migrate({
    connectionUri: server.connectionUri,
    services: [{ schema: "tables", role: "workflow_tables", directory }],
  });
  return server.connectionUri;
}

async function fillTable(database: Database, tableId: string, rows: number): Promise<TableHead> {
  const schema = JSON.stringify({ columns: COLUMNS });
  const key = await database.oneFirst(sql.type(z.object({ key: z.number() }))`
    insert into tables.tables (id, company_id, name, schema, metadata)
    values (${tableId}, ${COMPANY}, 'Cold', ${schema}, '{}')
    returning key
  `);
  await database.query(sql.type(z.object({}))`
    insert into tables.table_states (table_key, company_id, max_rows, row_count, next_position)
    values (${key}, ${COMPANY}, ${rows}, ${rows}, ${rows})
  `);
  await database.query(sql.type(z.object({}))`
    insert into tables.rows (table_key, position, id, data, revision)
    select ${key}, item.place - 1, gen_random_uuid(), item.data, 0
    from json_array_elements(${JSON.stringify(makeRows(rows))}::json) with ordinality
      as item (data, place)
  `);
  await database.query(sql.type(z.object({}))`analyze tables.rows`).catch(() => {});
  const head = await findTableHead(database, { companyId: COMPANY, tableId });
  if (head === null) throw new Error("The table is not there.");
  return head;
}
