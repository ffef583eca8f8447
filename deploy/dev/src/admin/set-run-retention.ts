import { changesBetween } from "@workflow/audit";
import { isUuid } from "@workflow/db";
import { listCompanies, recordAdminEvent } from "@workflow/service-gateway/admin";
import { listRetentionPolicies, setRetentionPolicy } from "@workflow/service-runs/admin";
import { actAs } from "./act-as.ts";
import type { Command, FlagValues } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

const DAYS_MAX = 36_500;
/** Stands for the setting RUN_RETENTION_DAYS. */
const DEFAULT = "default";

/** Sets the policy of one company. The setting RUN_RETENTION_DAYS holds for all others (D58). */
export const setRunRetentionCommand: Command = {
  summary: "Says how long the ended runs of a company are kept, see docs/ops/retention.md.",
  flags: {
    company: { placeholder: "ID" },
    days: { placeholder: `DAYS|${DEFAULT}` },
  },
  async run(settings, values) {
    const companyId = values.text("company").toLowerCase();
    if (!isUuid(companyId)) throw new UsageError("--company must be the id of a company");
    const days = readDays(values);
    await withDatabase(settings, async (database) => {
      if (!(await listCompanies(database)).some(({ id }) => id === companyId)) {
        throw new UsageError(`there is no company ${companyId}`);
      }
      await database.transaction(async (transaction) => {
        await actAs(transaction, "runs");
        const before = (await listRetentionPolicies(transaction)).get(companyId) ?? null;
        await setRetentionPolicy(transaction, companyId, days);
        await actAs(transaction, "gateway");
        await recordAdminEvent(transaction, {
          companyId,
          action: "company.run_retention_set",
          resourceType: "company",
          resourceId: companyId,
          changes: changesBetween({ runRetentionDays: before }, { runRetentionDays: days }),
        });
      });
    });
    return { json: { companyId, days }, text: describe(companyId, days) };
  },
};

function readDays(values: FlagValues): number | null {
  return values.text("days") === DEFAULT ? null : values.wholeNumber("days", 0, DAYS_MAX);
}

function describe(companyId: string, days: number | null): string {
  if (days === null) return `Runs of ${companyId} are kept as RUN_RETENTION_DAYS says`;
  return days === 0
    ? `Runs of ${companyId} are kept for ever`
    : `Ended runs of ${companyId} are removed after ${days} days`;
}
