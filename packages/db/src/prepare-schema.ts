import { setTimeout as delay } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";

/**
 * Creates a service's role, schema and table of migrations. The role may read and write rows of
 * this schema, and nothing else. May be repeated. Both names must be plain. Rights on tables come
 * from default privileges, so that a migration can revoke one for good.
 */
export async function prepareSchema(client: Client, schema: string, role: string): Promise<void> {
  await ensureRole(client, role);
  await ensureMembership(client, role);
  await client.query("begin");
  try {
    if (!(await exists(client, "select from pg_namespace where nspname = $1", [schema]))) {
      await client.query(`create schema ${schema}`);
    }
    for (const statement of grants(schema, role)) await client.query(statement);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

function grants(schema: string, role: string): string[] {
  const inSchema = `alter default privileges in schema ${schema}`;
  return [
    `revoke all on schema ${schema} from public`,
    `grant usage on schema ${schema} to ${role}`,
    `${inSchema} grant select, insert, update, delete on tables to ${role}`,
    `${inSchema} grant usage, select on sequences to ${role}`,
    `${inSchema} grant execute on functions to ${role}`,
    // By default everybody may call functions, and this cannot be revoked for one schema only.
    `alter default privileges revoke execute on functions from public`,
    `create table if not exists ${schema}.schema_migrations (
       number integer constraint schema_migrations_pkey primary key,
       name text not null,
       sha256 text not null,
       applied_at timestamptz not null default now()
     )`,
    // The service may read its migrations, not change them.
    `revoke all on ${schema}.schema_migrations from ${role}`,
    `grant select on ${schema}.schema_migrations to ${role}`,
  ];
}

async function ensureRole(client: Client, role: string): Promise<void> {
  await despiteOthers(async () => {
    if (await exists(client, "select from pg_roles where rolname = $1", [role])) return;
    await client.query(`create role ${role} nologin`);
  });
}

/** Without it a user who is no superuser could not act as the role. */
async function ensureMembership(client: Client, role: string): Promise<void> {
  await despiteOthers(async () => {
    const member = "select where pg_has_role(current_user, $1, 'set')";
    if (await exists(client, member, [role])) return;
    await client.query(`grant ${role} to current_user`);
  });
}

/**
 * Roles belong to the whole cluster, the migration lock to one database. Migrators of two databases
 * may create the same role at once, and one of them gets an error.
 */
async function despiteOthers(change: () => Promise<void>): Promise<void> {
  const duplicateObject = "42710";
  const uniqueViolation = "23505";
  const tupleConcurrentlyUpdated = "XX000";
  const expected = [duplicateObject, uniqueViolation, tupleConcurrentlyUpdated];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change();
    } catch (error) {
      const code = error instanceof DatabaseError ? (error.code ?? "") : "";
      if (attempt >= 10 || !expected.includes(code)) throw error;
      await delay(10 * attempt);
    }
  }
}

async function exists(client: Client, query: string, values: string[]): Promise<boolean> {
  const { rowCount } = await client.query(query, values);
  return (rowCount ?? 0) > 0;
}
