import type { Database, Transaction } from "@workflow/db";

/** A statement that is about to be made, or has been. */
export interface Statement {
  /** Of `sql.prepared`; empty for others. */
  name: string;
  values: readonly unknown[];
  when: "before" | "after";
}

/** What a test does before and after each statement; the statement waits for it. */
export type Hook = (statement: Statement) => Promise<void> | undefined;

/** A database whose statements wait for a hook, inside transactions too: as a slow network may. */
export function hookedDatabase(database: Database, hook: Hook): Database {
  const transaction: Database["transaction"] = (handler, retries) =>
    database.transaction((inside) => {
      const hooked: Transaction = Object.create(inside);
      return handler(Object.assign(hooked, hookedCalls(inside, hook)));
    }, retries);
  const hooked: Database = Object.create(database);
  return Object.assign(hooked, hookedCalls(database, hook), { transaction });
}

function hookedCalls(target: Database | Transaction, hook: Hook) {
  const { any, one, maybeOne } = target;
  const hooked =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const query: { name?: string; values?: readonly unknown[] } = Object(args[0]);
      const { name = "", values = [] } = query;
      await hook({ name, values, when: "before" });
      const result = await call.apply(target, args);
      await hook({ name, values, when: "after" });
      return result;
    };
  return { any: hooked(any), one: hooked(one), maybeOne: hooked(maybeOne) };
}
