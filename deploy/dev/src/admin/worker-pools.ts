import { changesBetween } from "@workflow/audit";
import { isUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { listCompanies, recordAdminEvent } from "@workflow/service-gateway/admin";
import {
  listPoolRules,
  measurePools,
  POOL_NAME,
  removePoolRule,
  setPoolRule,
} from "@workflow/service-runs/admin";
import { actAs } from "./act-as.ts";
import type { Command, FlagValues } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

/** In place of a tag: all workflows of the company without a more specific rule. */
const EVERY = "*";
/** The limit of a workflow's tag. */
const TAG_CHARS_MAX = 64;
/** The highest number of a pool's tasks that is counted. */
const DUE_MAX = 10_000;

const SUBJECT_FLAGS = {
  company: { placeholder: "ID" },
  tag: { placeholder: "TAG", default: EVERY },
};

/** The workflows that a rule is about. */
interface Subject {
  companyId: string;
  tag: string | null;
}

export const setWorkerPoolCommand: Command = {
  summary: "Says which workers execute a company's runs, see docs/ops/worker-pools.md.",
  flags: { ...SUBJECT_FLAGS, pool: { placeholder: "NAME" } },
  async run(settings, values) {
    const subject = readSubject(values);
    const pool = values.text("pool");
    if (!POOL_NAME.test(pool)) {
      throw new UsageError(
        "--pool must be of lower-case letters, digits and dashes, 40 at most, a letter first",
      );
    }
    await withDatabase(settings, (database) =>
      change(database, subject, (transaction) => setPoolRule(transaction, { ...subject, pool })),
    );
    return {
      json: { ...subject, pool },
      text: `${describe(subject)} are executed by the workers of the pool ${pool}`,
    };
  },
};

export const removeWorkerPoolCommand: Command = {
  summary: "Takes such a rule back; what waits goes back to the pool that is left for it.",
  flags: SUBJECT_FLAGS,
  async run(settings, values) {
    const subject = readSubject(values);
    await withDatabase(settings, (database) =>
      change(database, subject, async (transaction) => {
        const removed = await removePoolRule(transaction, subject);
        if (removed === null) throw new UsageError("there is no such rule");
      }),
    );
    return { json: { ...subject, pool: null }, text: `${describe(subject)}: the rule is removed` };
  },
};

export const listWorkerPoolsCommand: Command = {
  summary: "Shows the rules, and what is due in each pool and for how long.",
  flags: {},
  async run(settings) {
    const { rules, pools } = await withDatabase(settings, (database) =>
      database.transaction(async (transaction) => {
        await actAs(transaction, "runs");
        const measured = await measurePools(transaction, { limit: DUE_MAX });
        return { rules: await listPoolRules(transaction), pools: measured };
      }),
    );
    const lines = [
      ...rules.map((rule) => `${describe(rule)}: ${rule.pool}`),
      ...pools.map(
        ({ pool, due, oldestAgeSeconds }) =>
          `Pool ${pool}: ${due} due, the oldest for ${Math.round(oldestAgeSeconds)} s`,
      ),
    ];
    return { json: { rules, pools }, text: lines.join("\n") };
  },
};

function readSubject(values: FlagValues): Subject {
  const companyId = values.text("company").toLowerCase();
  if (!isUuid(companyId)) throw new UsageError("--company must be the id of a company");
  const tag = values.text("tag");
  if (tag.length > TAG_CHARS_MAX) {
    throw new UsageError(`--tag must have ${TAG_CHARS_MAX} characters at most`);
  }
  return { companyId, tag: tag === EVERY ? null : tag };
}

/** Changes a rule and records it, in one transaction. */
async function change(
  database: Database,
  subject: Subject,
  write: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const { companyId, tag } = subject;
  if (!(await listCompanies(database)).some(({ id }) => id === companyId)) {
    throw new UsageError(`there is no company ${companyId}`);
  }
  await database.transaction(async (transaction) => {
    await actAs(transaction, "runs");
    const before = await findPool(transaction, subject);
    await write(transaction);
    const after = await findPool(transaction, subject);
    await actAs(transaction, "gateway");
    await recordAdminEvent(transaction, {
      companyId,
      action: "company.worker_pool_set",
      resourceType: "company",
      resourceId: companyId,
      changes: changesBetween(
        { tag: before === null ? null : tag, workerPool: before },
        { tag: after === null ? null : tag, workerPool: after },
      ),
    });
  });
}

async function findPool(transaction: Transaction, subject: Subject): Promise<string | null> {
  const rules = await listPoolRules(transaction);
  const rule = rules.find(
    ({ companyId, tag }) => companyId === subject.companyId && tag === subject.tag,
  );
  return rule?.pool ?? null;
}

function describe({ companyId, tag }: Subject): string {
  return tag === null ? `Runs of ${companyId}` : `Runs of ${companyId} with the tag ${tag}`;
}
