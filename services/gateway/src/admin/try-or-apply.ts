import type { Database, Transaction } from "@workflow/db";

/**
 * Does work in a transaction, which is kept with `apply` and rolled back without it. So a dry run
 * tells exactly what the statements would change; notifications are not sent then.
 */
export async function tryOrApply<Result extends object>(
  database: Database,
  apply: boolean,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const rollback = new Error("The dry run has ended.");
  const results: Result[] = [];
  try {
    return await database.transaction(async (transaction) => {
      const result = await work(transaction);
      if (apply) return result;
      results.push(result);
      throw rollback;
    });
  } catch (error) {
    const last = results.at(-1);
    if (error === rollback && last !== undefined) return last;
    throw error;
  }
}
