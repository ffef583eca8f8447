import type { Database } from "@workflow/db";
import { listPoolRules, hasPooledTasks, moveTasks, tryLockPools } from "../store/worker-pools.ts";

/** Tasks that one transaction checks, in some ten milliseconds. */
const PAGE = 2_000;
/**
 * Rounds after a change of the rules. Other processes may have stored tasks by the old rules meanwhile.
 */
const ROUNDS_AFTER_CHANGE = 3;
/** After so many rounds all tasks are checked even without a change. */
const ROUNDS_BETWEEN = 12;

/**
 * Makes tasks follow the rules of worker pools (ADR 63). That concerns waiting tasks when a rule is made,
 * changed or removed, and tasks that a process stored by an older rule. While there are no rules and no
 * tasks in pools a round costs two small queries.
 */
export class PoolKeeper {
  readonly #database: Database;
  #seen = "";
  #roundsLeft = 0;
  #roundsSince = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns how many tasks were moved */
  async round(signal: AbortSignal): Promise<number> {
    const rules = await listPoolRules(this.#database);
    const now = JSON.stringify(rules);
    this.#roundsSince += 1;
    if (now !== this.#seen) this.#roundsLeft = ROUNDS_AFTER_CHANGE;
    this.#seen = now;
    if (this.#roundsLeft === 0 && this.#roundsSince < ROUNDS_BETWEEN) return 0;
    if (rules.length === 0 && !(await hasPooledTasks(this.#database))) return 0;
    this.#roundsSince = 0;
    this.#roundsLeft = Math.max(0, this.#roundsLeft - 1);
    return this.#moveAll(signal);
  }

  async #moveAll(signal: AbortSignal): Promise<number> {
    let moved = 0;
    for (let afterId: string | null = ""; afterId !== null && !signal.aborted;) {
      const after: string = afterId;
      const page = await this.#database.transaction(async (transaction) =>
        (await tryLockPools(transaction)) ? moveTasks(transaction, after, PAGE) : null,
      );
      // Another process moves tasks.
      if (page === null) return moved;
      moved += page.moved;
      afterId = page.lastId;
    }
    return moved;
  }
}
