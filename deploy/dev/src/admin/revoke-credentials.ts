import { isUuid } from "@workflow/db";
import { CREDENTIAL_KINDS, revokeCredentials } from "@workflow/service-gateway/admin";
import { APPLY_FLAG, readApply, withDryRunNote } from "./apply-flag.ts";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { readPastTime } from "./point-in-time.ts";
import { UsageError } from "./usage-error.ts";

const ALL = "all";

/** After a restore without a list of revocations, or after a leak (ADR 77). */
export const revokeCredentialsCommand: Command = {
  summary:
    "Revokes API keys and ends sessions that were created before a time, see docs/ops/backup.md.",
  flags: {
    "created-before": { placeholder: "TIME" },
    company: { placeholder: "ID", default: ALL },
    kinds: { placeholder: "KIND,…", default: CREDENTIAL_KINDS.join(",") },
    apply: APPLY_FLAG,
  },
  async run(settings, values) {
    const createdBefore = readPastTime(values, "created-before", new Date());
    const given = values.text("company");
    if (given !== ALL && !isUuid(given)) {
      throw new UsageError("--company must be the id of a company");
    }
    const companyId = given === ALL ? null : given.toLowerCase();
    const kinds = values.listOf("kinds", CREDENTIAL_KINDS);
    const apply = readApply(values);
    const count = await withDatabase(settings, (database) =>
      revokeCredentials(database, { companyId, createdBefore, kinds, apply }),
    );
    const { apiKeys, sessions, companies } = count;
    const text = `${apiKeys} API keys and ${sessions} sessions of ${companies} companies`;
    return { json: { applied: apply, ...count }, text: withDryRunNote(apply, text) };
  },
};
