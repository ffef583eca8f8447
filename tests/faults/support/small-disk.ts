import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import { hasPostgresBinaries, startLocalPostgres } from "@workflow/local-postgres";
import { createTestDatabase } from "@workflow/testkit";
import { Client } from "pg";
import { migrateAll } from "../../../deploy/dev/src/migrations.ts";
import { fillUp, mountDisk, whyNoMounts } from "./mounted-disk.ts";

/** A database whose disk can be filled. */
export interface SmallDisk {
  databaseUrl: string;
  /** Whether it is a real disk, or statements that fail with the server's error of a full one. */
  isReal: boolean;
  /** From here on nothing that needs room is stored. */
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const DISK_MB = 160;
/** The name of the tablespace on the small disk, and of the database there. */
const NAME = "small";

/**
 * A migrated database on a small disk of its own. A disk takes root and Postgres's binaries. Elsewhere every
 * statement that writes is refused with the error of a full disk, which the services cannot tell apart.
 */
export function createSmallDisk(): Promise<SmallDisk> {
  return whyNoMounts() === null && hasPostgresBinaries() ? createRealDisk() : createRefusals();
}

/** The server is the disk's own: a checkpoint fails while one of its disks is full, and all that wait for one fail. */
async function createRealDisk(): Promise<SmallDisk> {
  const scope = createScope();
  return scope.guard(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "small-disk-server-"));
    scope.defer(() => rm(dataDir, { recursive: true, force: true }));
    const server = await startLocalPostgres({ dataDir, durable: false });
    scope.defer(() => server.stop());
    const { uid, gid } = await stat(join(dataDir, "pgdata"));
    const folder = await mountDisk({ megabytes: DISK_MB, uid, gid }, (undo) => scope.defer(undo));
    if (folder === null) throw new Error("Nothing can be mounted.");
    const admin = new Client({ connectionString: server.connectionUri });
    await admin.connect();
    await admin.query(`create tablespace ${NAME} location '${folder}'`);
    await admin.query(`create database ${NAME} tablespace ${NAME}`);
    await admin.end();
    const databaseUrl = withDatabase(server.connectionUri, NAME);
    await migrateAll(databaseUrl);
    const filler = join(folder, "filler");
    return {
      databaseUrl,
      isReal: true,
      fill: () => fillUp(filler),
      free: () => rm(filler),
      close: () => scope.close(),
    };
  });
}

async function createRefusals(): Promise<SmallDisk> {
  const made = await createTestDatabase();
  const scope = createScope();
  scope.defer(() => made.close());
  return scope.guard(async () => {
    const admin = new Client({ connectionString: made.connectionUri });
    await admin.connect();
    scope.defer(() => admin.end());
    return { ...refusing(made.connectionUri, admin), close: () => scope.close() };
  });
}

function refusing(databaseUrl: string, admin: Client): Omit<SmallDisk, "close"> {
  const eachTable = (action: string): string => `
    do $$ declare place regclass; begin
      for place in
        select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and n.nspname in
          ('gateway', 'workflows', 'runs', 'tables', 'integrations', 'webhooks')
      loop
        execute format('${action}', place);
      end loop;
    end $$`;
  return {
    databaseUrl,
    isReal: false,
    async fill() {
      await admin.query(`
        create or replace function public.disk_is_full() returns trigger language plpgsql as $$
        begin
          raise exception 'could not extend file: No space left on device' using errcode = '53100';
        end $$`);
      await admin.query(
        eachTable(
          "create trigger disk_is_full before insert or update on %s " +
            "for each statement execute function public.disk_is_full()",
        ),
      );
    },
    async free() {
      await admin.query(eachTable("drop trigger if exists disk_is_full on %s"));
    },
  };
}

function withDatabase(connectionUri: string, database: string): string {
  const uri = new URL(connectionUri);
  uri.pathname = `/${database}`;
  return uri.toString();
}
