import { execFile } from "node:child_process";
import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { migrate, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import type { Identity } from "@workflow/rpc";
import { freePort, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { column, newTable, tableChange } from "./support/table-requests.ts";

const run = promisify(execFile);
/** Tables of another group are another company's. */
let identity: Identity;

/** Only for its parts: the service under test has a server of its own, which is set back beneath it. */
let harness: Harness;
let dataDir: string;
/** Nobody's outgoing connection gets this port while the server is away. */
let port: number;
let postgres: LocalPostgres;
/** Two processes: what one keeps in memory the other has on disk. */
let processes: Readonly<Record<Kept, Clients>>;
/** The process under test. */
let clients: Clients;

type Kept = "in memory" | "on disk";

beforeAll(async () => {
  harness = await startHarness();
  dataDir = await mkdtemp(join(tmpdir(), "lost-history-"));
  port = await freePort();
  postgres = await startLocalPostgres({ dataDir, durable: false, port });
  const directory = join(import.meta.dirname, "../migrations");
  const services = [{ schema: "tables", role: "workflow_tables", directory }];
  await migrate({ connectionUri: postgres.connectionUri, services });
  const databaseUrl = postgres.connectionUri;
  const spill = { directory: dataDir, bytesMax: 16 * 1024 * 1024, rowsMin: 1 };
  processes = {
    "in memory": harness.connect(await harness.start({ databaseUrl })),
    "on disk": harness.connect(await harness.start({ databaseUrl, cacheBytesMax: 1, spill })),
  };
});
afterAll(async () => {
  await harness.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const cluster = () => join(dataDir, "pgdata");
const saved = () => join(dataDir, "saved");

/** Starts the server again at its place, after something was done to its stopped folder. */
async function restart(change: () => Promise<unknown>): Promise<void> {
  const { connectionUri } = postgres;
  await postgres.stop();
  await change();
  postgres = await startLocalPostgres({ dataDir, durable: false, port });
  // Where the service looks for it.
  expect(postgres.connectionUri).toBe(connectionUri);
}

const save = () =>
  restart(async () => {
    await rm(saved(), { recursive: true, force: true });
    await run("cp", ["-a", cluster(), saved()]);
  });

async function putBack(): Promise<void> {
  await rm(cluster(), { recursive: true });
  await run("cp", ["-a", saved(), cluster()]);
}

/** While the service finds its way back to the database it may say so, and nothing else. */
async function patiently<Result>(call: () => Promise<Result>): Promise<Result> {
  const { ended } = await waitFor(async () => {
    const [settled] = await Promise.allSettled([call()]);
    const isAway =
      settled.status === "rejected" &&
      isAppError(settled.reason) &&
      settled.reason.reason === "UNAVAILABLE";
    return isAway ? null : { ended: settled };
  });
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

async function createTable(name: string, columns = ["amount"]): Promise<string> {
  const numbers = columns.map((id) => column(id, { id, type: ColumnType.NUMBER }));
  const table = await clients.tables.createTable(
    newTable({ name, columns: { columns: numbers } }),
    { identity },
  );
  return table.id;
}

const insert = (tableId: string, amount: number) =>
  patiently(() =>
    clients.rows.insertRow(
      { tableId, dataJson: JSON.stringify({ amount }), origin: undefined },
      { identity },
    ),
  );

async function amountsOf(tableId: string, sort = "amount"): Promise<number[]> {
  const filterJson = '{"amount":{"condition":{"operator":"greater_than_or_equal","value":0}}}';
  const request = QueryRowsRequest.create({ tableId, filterJson, sort, limit: 100, offset: 0 });
  const { rows } = await patiently(() => clients.rows.queryRows(request, { identity }));
  return rows.map(
    ({ dataJson }) => z.object({ amount: z.number() }).parse(JSON.parse(dataJson)).amount,
  );
}

async function setColumns(tableId: string, ids: readonly string[]): Promise<void> {
  const columns = ids.map((id) => column(id, { id, type: ColumnType.NUMBER }));
  await patiently(() =>
    clients.tables.updateTable(tableChange(tableId, { columns: { columns } }), { identity }),
  );
}

async function asSuperuser(statement: Parameters<Database["query"]>[0]): Promise<void> {
  const admin = await openDatabase({
    connectionUri: postgres.connectionUri,
    applicationName: "test",
  });
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}

/** Whether the server has begun anew since this backend of it was killed. */
async function hasRecovered(pid: number): Promise<boolean> {
  const admin = await openDatabase({
    connectionUri: postgres.connectionUri,
    applicationName: "test",
  });
  try {
    const { known } = await admin.one(sql.type(z.object({ known: z.boolean() }))`
      select exists (select from pg_stat_activity where pid = ${pid}) as known
    `);
    return !known;
  } finally {
    await admin.end();
  }
}

describe.each<Kept>(["in memory", "on disk"])(
  "a service with columns %s whose database is set back beneath it",
  (kept) => {
    beforeAll(() => {
      clients = processes[kept];
      identity = newIdentity();
    });

    it("answers by what is there, whatever it knew", async () => {
      const [once, often, columns] = [
        await createTable("once"),
        await createTable("often"),
        await createTable("columns"),
      ];
      for (const tableId of [once, often, columns]) await insert(tableId, 1);
      await save();
      for (const tableId of [once, often]) {
        for (const amount of [2, 3, 4]) await insert(tableId, amount);
        expect(await amountsOf(tableId)).toEqual([1, 2, 3, 4]);
      }
      await setColumns(columns, ["amount", "lost"]);
      expect(await amountsOf(columns, "lost")).toEqual([1]);
      const gone = await createTable("gone");
      await insert(gone, 9);
      expect(await amountsOf(gone)).toEqual([9]);

      await restart(putBack);

      // A revision that is lower than the one known.
      await insert(once, 555);
      expect(await amountsOf(once)).toEqual([1, 555]);
      // One that has overtaken it.
      for (const amount of [5, 6, 7, 8]) await insert(often, amount);
      expect(await amountsOf(often)).toEqual([1, 5, 6, 7, 8]);
      // Another change has made the head's number the same again.
      await setColumns(columns, ["amount", "other"]);
      expect(await amountsOf(columns, "other")).toEqual([1]);
      const unknown = await errorOf(amountsOf(columns, "lost"));
      expect([unknown.reason, unknown.violations[0]?.path]).toEqual(["BAD_REQUEST", ["sort"]]);
      // A table that was lost, whose place another one has taken.
      const successor = await createTable("successor");
      await insert(successor, 10);
      expect((await errorOf(amountsOf(gone))).reason).toBe("NOT_FOUND");
      expect((await errorOf(insert(gone, 11))).reason).toBe("NOT_FOUND");
      expect(await amountsOf(successor)).toEqual([10]);
    });

    it("asks a standby nothing, and follows it once it has taken over", async () => {
      const tableId = await createTable("promoted");
      await insert(tableId, 1);
      await save();
      for (const amount of [2, 3, 4]) await insert(tableId, amount);
      expect(await amountsOf(tableId)).toEqual([1, 2, 3, 4]);

      await restart(async () => {
        await putBack();
        const { uid, gid } = await stat(cluster());
        const signal = join(cluster(), "standby.signal");
        await writeFile(signal, "");
        await chown(signal, uid, gid);
      });
      const request = QueryRowsRequest.create({ tableId, limit: 10, offset: 0, sort: "amount" });
      const asStandby = await errorOf(clients.rows.queryRows(request, { identity }));
      expect(asStandby.reason).toBe("UNAVAILABLE");

      await asSuperuser(sql.type(z.object({}))`select pg_promote()`);
      for (const amount of [5, 6, 7, 8]) await insert(tableId, amount);
      expect(await amountsOf(tableId)).toEqual([1, 5, 6, 7, 8]);
    });

    it("loses nothing that it has confirmed when a backend crashes, whatever the server's default", async () => {
      const tableId = await createTable("crashed");
      for (const amount of [1, 2, 3]) await insert(tableId, amount);
      const admin = await openDatabase({
        connectionUri: postgres.connectionUri,
        applicationName: "test",
      });
      const backend = await admin.one(sql.type(
        z.object({ pid: z.number(), commits: z.literal("off") }),
      )`
      select pg_backend_pid() as pid, current_setting('synchronous_commit') as commits
    `);
      for (const amount of [4, 5]) await insert(tableId, amount);
      process.kill(backend.pid, "SIGKILL");
      await admin.end();
      // Until all sessions have ended a row may be stored whose answer is lost, and be stored again then.
      await waitFor(() => hasRecovered(backend.pid));
      await insert(tableId, 6);
      expect(await amountsOf(tableId)).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it("notices it also where the write-ahead log may not be asked", async () => {
      await asSuperuser(sql.type(z.object({}))`
      revoke execute on function pg_current_wal_insert_lsn() from public
    `);
      const tableId = await createTable("managed");
      await insert(tableId, 1);
      await save();
      for (const amount of [2, 3, 4]) await insert(tableId, amount);
      expect(await amountsOf(tableId)).toEqual([1, 2, 3, 4]);
      await restart(putBack);
      for (const amount of [5, 6, 7, 8]) await insert(tableId, amount);
      expect(await amountsOf(tableId)).toEqual([1, 5, 6, 7, 8]);
    });
  },
);
