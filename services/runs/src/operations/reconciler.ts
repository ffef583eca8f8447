import type { Database, Transaction } from "@workflow/db";
import { counterIn } from "@workflow/service";
import type { Logger } from "pino";
import type { Counter, Registry } from "prom-client";
import { giveUpSlots } from "../concurrency/release-slots.ts";
import { cancelWaitingApprovals } from "../store/approvals.ts";
import {
  findRunsWithoutTask,
  insertMissingTasks,
  listCompanies,
  listEndedWithApproval,
  listSlots,
  liveRangesOf,
  removeTasksWithoutRun,
  tryLockReconciliation,
} from "../store/reconcile.ts";
import type { LiveRange, RangePage } from "../store/reconcile.ts";

/** The kinds of mismatches that are found, reported and repaired. */
const KINDS = [
  "run_without_task",
  "task_without_run",
  "approval_of_ended_run",
  "slot_of_ended_run",
] as const;
type Kind = (typeof KINDS)[number];

/** The dependencies of reconciling. */
export interface ReconcilerOptions {
  database: Database;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

/** Companies in one batch, and the runs of each of their ranges that it checks. */
const COMPANIES = 20;
const RUNS_OF_RANGE = 250;
/** Runs of one large range that a batch checks. */
const RUNS_OF_LARGE_RANGE = 2_000;
const APPROVALS_OF_COMPANY = 500;
const ROWS = 1_000;
/** Batches of a round. Each is a transaction of some milliseconds. */
const BATCHES = 20;
/** Most ids that one log line names. */
const LOGGED = 20;

const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";

/** The position of the next batch. */
interface Position {
  companiesAfter: string;
  /** Ranges with more runs than one query takes. */
  large: (LiveRange & { beforeId: string })[];
  tasksAfter: string;
  slotsAfter: string;
}

/**
 * Compares what transactions keep together: live runs with their tasks, and ended runs with what they
 * held (ADR 33). Only our own faults or manual statements cause mismatches. They are reported and
 * repaired. A round checks a bounded part, and the next round goes on there. Of several processes one
 * works at a time.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #found: Counter<"kind"> | undefined;
  #position: Position = beginning();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#found =
      options.metricsRegistry &&
      counterIn(options.metricsRegistry, {
        name: "runs_reconciled_total",
        help: "Rows that did not belong together and were mended; each is a fault of ours.",
        labelNames: ["kind"],
      });
    // The counters start at 0, so that the first mismatch is seen as an increase.
    for (const kind of KINDS) this.#found?.inc({ kind }, 0);
  }

  /** Works until everything was checked, the round is long enough, or another process is at work. */
  async round(signal: AbortSignal): Promise<void> {
    for (let batch = 0; batch < BATCHES && !signal.aborted; batch += 1) {
      const next = await this.#options.database.transaction((transaction) =>
        this.#batch(transaction, structuredClone(this.#position)),
      );
      if (next === null) return;
      this.#position = next.position;
      for (const [kind, runIds] of next.mended) this.#tell(kind, runIds);
      if (next.isComplete) return;
    }
  }

  /** Null when another process is at work. The transaction may run twice. */
  async #batch(transaction: Transaction, position: Position): Promise<Batch | null> {
    if (!(await tryLockReconciliation(transaction))) return null;
    const mended = new Map<Kind, readonly string[]>();
    const companiesDone = await this.#compareRuns(transaction, position, mended);
    const tasks = await removeTasksWithoutRun(transaction, position.tasksAfter, ROWS);
    mended.set("task_without_run", tasks.removed);
    position.tasksAfter = tasks.lastId ?? "";
    const slots = await listSlots(transaction, position.slotsAfter, ROWS);
    const left = slots.filter(({ hasEnded }) => hasEnded);
    if (left.length > 0) await giveUpSlots(transaction, left);
    mended.set(
      "slot_of_ended_run",
      left.map(({ runId }) => runId),
    );
    position.slotsAfter = slots.at(-1)?.runId ?? "";
    const isComplete = companiesDone && tasks.lastId === null && slots.length === 0;
    return { position, mended, isComplete };
  }

  /** Goes on with one large range, or with the next companies. Returns whether none are left. */
  async #compareRuns(
    transaction: Transaction,
    position: Position,
    mended: Map<Kind, readonly string[]>,
  ): Promise<boolean> {
    const large = position.large.shift();
    if (large !== undefined) {
      const pages = await findRunsWithoutTask(transaction, [large], RUNS_OF_LARGE_RANGE);
      await this.#mendRuns(transaction, position, { pages, limit: RUNS_OF_LARGE_RANGE, mended });
      return false;
    }
    const companies = await listCompanies(transaction, position.companiesAfter, COMPANIES);
    position.companiesAfter = companies.at(-1) ?? FIRST_COMPANY;
    if (companies.length === 0) return true;
    const ranges = liveRangesOf(companies);
    const pages = await findRunsWithoutTask(transaction, ranges, RUNS_OF_RANGE);
    await this.#mendRuns(transaction, position, { pages, limit: RUNS_OF_RANGE, mended });
    const asking = await listEndedWithApproval(transaction, companies, APPROVALS_OF_COMPANY);
    if (asking.length > 0) await cancelWaitingApprovals(transaction, asking);
    mended.set("approval_of_ended_run", asking);
    return false;
  }

  async #mendRuns(
    transaction: Transaction,
    position: Position,
    {
      pages,
      limit,
      mended,
    }: { pages: readonly RangePage[]; limit: number; mended: Map<Kind, readonly string[]> },
  ): Promise<void> {
    for (const { companyId, triggerType, status, seen, lastId } of pages) {
      if (seen === limit) position.large.push({ companyId, triggerType, status, beforeId: lastId });
    }
    const runIds = pages.flatMap(({ withoutTask }) => withoutTask);
    if (runIds.length === 0) return;
    mended.set("run_without_task", await insertMissingTasks(transaction, runIds));
  }

  #tell(kind: Kind, runIds: readonly string[]): void {
    if (runIds.length === 0) return;
    this.#found?.inc({ kind }, runIds.length);
    const fields = { kind, count: runIds.length, runIds: runIds.slice(0, LOGGED) };
    this.#options.logger.error(fields, "mismatched rows were repaired");
  }
}

interface Batch {
  position: Position;
  /** The ids of the repaired runs, by kind. */
  mended: ReadonlyMap<Kind, readonly string[]>;
  /** Whether everything was checked. */
  isComplete: boolean;
}

function beginning(): Position {
  return { companiesAfter: FIRST_COMPANY, large: [], tasksAfter: "", slotsAfter: "" };
}
