import type { IncomingMessage, ServerResponse } from "node:http";
import type { Pool } from "pg";
import { z } from "zod";
import { makeRows } from "../table-rows.ts";
import type { TableRow } from "../table-rows.ts";
import { runFloor } from "./floor.ts";

/**
 * Code that somebody would write by hand for this one table: typed columns, an index for each question, prepared
 * statements, and Node's own HTTP server in front, without identity or validation.
 */
const CREATE_TABLE = `
  create extension if not exists pg_trgm;
  create table if not exists bench.items (
    position bigint generated always as identity primary key,
    id uuid not null default gen_random_uuid(),
    name text, email text, status text, amount double precision, quantity double precision,
    due date, active boolean, notes text,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now()
  )`;
const CREATE_INDEXES = [
  "create index on bench.items (status, amount)",
  "create index on bench.items (amount)",
  "create index on bench.items (due)",
  "create index on bench.items using gin (name gin_trgm_ops)",
];
const BATCH = 5_000;
const PAGE =
  "id, name, email, status, amount, quantity, due, active, notes, position, created_at, updated_at";

const rowBody = z.object({ data: z.record(z.string(), z.unknown()) });

runFloor(CREATE_TABLE, async ({ database, document }) => {
  await fill(database, makeRows(Number(document)));
  return (request, response) => {
    answer(database, request).then(
      (data) => send(response, 200, { success: true, data }),
      (error: unknown) => send(response, 500, { error: String(error) }),
    );
  };
});

async function answer(database: Pool, request: IncomingMessage): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://floor");
  switch (pathname) {
    case "/page":
      return page(database, "page", "true", "position", []);
    case "/deep":
      return page(database, "deep", "true", "position", [], Number(searchParams.get("offset")));
    case "/filter": {
      const where = "status = $1 and amount > $2";
      const values = ["open", Number(searchParams.get("above"))];
      return page(database, "filter", where, "amount, position", values);
    }
    case "/contains": {
      const values = [`%${searchParams.get("text") ?? ""}%`];
      return page(database, "contains", "name ilike $1", "position", values);
    }
    case "/distinct":
      return distinct(database);
    default:
      return insert(database, rowBody.parse(JSON.parse(await readBody(request))).data);
  }
}

/** A page of 50 rows, and the number of all. */
async function page(
  database: Pool,
  name: string,
  where: string,
  order: string,
  values: unknown[],
  offset = 0,
): Promise<unknown> {
  const rows = await database.query({
    name: `${name}-rows`,
    text: `select ${PAGE} from bench.items where ${where} order by ${order}
      limit 50 offset $${values.length + 1}`,
    values: [...values, offset],
  });
  const total = await database.query({
    name: `${name}-total`,
    text: `select count(*)::int as total from bench.items where ${where}`,
    values,
  });
  return { rows: rows.rows, total: total.rows[0] };
}

async function distinct(database: Pool): Promise<unknown> {
  const { rows } = await database.query({
    name: "distinct",
    text: "select status as value, count(*)::int as count from bench.items group by status order by 1",
  });
  return rows;
}

async function insert(database: Pool, data: Record<string, unknown>): Promise<unknown> {
  const { rows } = await database.query({
    name: "insert",
    text: `insert into bench.items (name, email, status, amount, quantity, due, active, notes)
      values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${PAGE}`,
    values: ["name", "email", "status", "amount", "quantity", "due", "active", "notes"].map(
      (column) => data[column],
    ),
  });
  return rows[0];
}

async function fill(database: Pool, rows: readonly TableRow[]): Promise<void> {
  await database.query("truncate bench.items restart identity");
  for (let start = 0; start < rows.length; start += BATCH) {
    await database.query(
      `insert into bench.items (name, email, status, amount, quantity, due, active, notes)
       select name, email, status, amount, quantity, due, active, notes
       from jsonb_to_recordset($1::jsonb) as row (name text, email text, status text,
         amount double precision, quantity double precision, due date, active boolean, notes text)`,
      [JSON.stringify(rows.slice(start, start + BATCH))],
    );
  }
  for (const index of CREATE_INDEXES) await database.query(index);
  await database.query("vacuum analyze bench.items");
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += String(chunk);
  return text;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}
