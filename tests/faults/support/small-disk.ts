import { randomBytes } from "node:crypto";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import { createTestDatabase } from "@workflow/testkit";
import { Client } from "pg";
import { fillUp, mountDisk } from "./mounted-disk.ts";

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

/**
 * A migrated database on a small disk of its own. A disk takes root and a server on this machine. Elsewhere
 * every statement that writes is refused with the error of a full disk, which the services cannot tell apart.
 */
export async function createSmallDisk(): Promise<SmallDisk> {
  const made = await createTestDatabase();
  const scope = createScope();
  scope.defer(() => made.close());
  return scope.guard(async () => {
    const admin = new Client({ connectionString: made.connectionUri });
    await admin.connect();
    scope.defer(() => admin.end());
    const owner = await ownerOfServer(admin);
    const folder =
      owner === null
        ? null
        : await mountDisk({ megabytes: DISK_MB, ...owner }, (undo) => scope.defer(undo));
    if (folder === null)
      return { ...refusing(made.connectionUri, admin), close: () => scope.close() };
    const name = `small_${randomBytes(6).toString("hex")}`;
    const source = new URL(made.connectionUri).pathname.slice(1);
    const maintenance = new Client({
      connectionString: withDatabase(made.connectionUri, "postgres"),
    });
    await maintenance.connect();
    scope.defer(() => maintenance.end());
    // A database is copied while nobody is in it.
    await admin.end();
    await maintenance.query(`create tablespace ${name} location '${folder}'`);
    const undo = async (statement: string): Promise<void> =>
      void (await maintenance.query(statement));
    scope.defer(() => undo(`drop tablespace ${name}`));
    await maintenance.query(`create database ${name} template ${source} tablespace ${name}`);
    scope.defer(() => undo(`drop database ${name} with (force)`));
    const filler = join(folder, "filler");
    return {
      databaseUrl: withDatabase(made.connectionUri, name),
      isReal: true,
      fill: () => fillUp(filler),
      free: () => rm(filler),
      close: () => scope.close(),
    };
  });
}

/** The user of the server; null when its processes are not on this machine, or not to be seen. */
async function ownerOfServer(admin: Client): Promise<{ uid: number; gid: number } | null> {
  const { rows } = await admin.query<{ pid: number }>("select pg_backend_pid() as pid");
  const folder = `/proc/${rows[0]?.pid}`;
  const command = await readFile(`${folder}/cmdline`, "utf8").catch(() => "");
  if (!command.startsWith("postgres:")) return null;
  return stat(folder).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => null,
  );
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
