import { isUuid } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { listCompanies, verifyAudit } from "@workflow/service-gateway/admin";
import type { Anchor, AuditVerification } from "@workflow/service-gateway/admin";
import type { Command, FlagValues } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

const ALL = "all";
const NONE = "none";

/** Exits with 1 when the log was altered. */
export const verifyAuditCommand: Command = {
  summary: "Checks that nothing in the audit log was changed or removed, see docs/audit.md.",
  flags: {
    company: { placeholder: "ID", default: ALL },
    anchor: { placeholder: "SEQ:HASH", default: NONE },
  },
  async run(settings, values) {
    const companyId = readCompany(values);
    const anchor = readAnchor(values);
    if (anchor !== undefined && companyId === undefined) {
      throw new UsageError("--anchor needs --company: it is a row of that company's log");
    }
    const result = await withDatabase(settings, async (database) => {
      if (companyId !== undefined) await requireCompany(database, companyId);
      return verifyAudit(database, { companyId, anchor });
    });
    return { json: { ...result }, text: describe(result), failed: !result.ok };
  },
};

/** Refuses an unknown company: its empty log would seem to be in order. */
async function requireCompany(database: Queryable, companyId: string): Promise<void> {
  const companies = await listCompanies(database);
  if (!companies.some(({ id }) => id === companyId)) {
    throw new UsageError(`there is no company ${companyId}`);
  }
}

function readCompany(values: FlagValues): string | undefined {
  const text = values.text("company");
  if (text === ALL) return undefined;
  if (!isUuid(text)) throw new UsageError("--company must be the id of a company");
  return text.toLowerCase();
}

function readAnchor(values: FlagValues): Anchor | undefined {
  const text = values.text("anchor");
  if (text === NONE) return undefined;
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new UsageError("--anchor must be a number and a hash of 64 hexadecimal digits, SEQ:HASH");
  }
  return { seq: Number(seq), hash: hash.toLowerCase() };
}

function describe({ companies, events, firstBroken, start, end }: AuditVerification): string {
  const lines = [`Companies  ${companies}`, `Events     ${events}`];
  if (start !== undefined) lines.push(`Removed    up to ${start.seq}:${start.hash} (retention)`);
  if (end !== undefined) lines.push(`End        ${end.seq}:${end.hash}`);
  lines.push(
    firstBroken === undefined
      ? "Nothing was changed, nor removed by hand."
      : `BROKEN     company ${firstBroken.companyId}, row ${firstBroken.seq}: ${firstBroken.reason}`,
  );
  return lines.join("\n");
}
