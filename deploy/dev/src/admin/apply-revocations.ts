import type { Database } from "@workflow/db";
import { insertRevokedToken, listRevocationsOf, TOKEN_AUDIENCES } from "@workflow/rpc";
import { applyRevocations, recordAdminEvent } from "@workflow/service-gateway/admin";
import type { AdminEvent, AppliedRevocations } from "@workflow/service-gateway/admin";
import { actAs } from "./act-as.ts";
import { APPLY_FLAG, readApply, withDryRunNote } from "./apply-flag.ts";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { readRevocationList } from "./revocation-list.ts";
import type { RevocationList } from "./revocation-list.ts";

/** The list holds ids only, so it needs no protection that the log of an operator does not have. */
export const applyRevocationsCommand: Command = {
  summary:
    "Applies what list-revocations has printed to a restored database, and ends all sessions of before.",
  flags: { file: { placeholder: "PATH" }, apply: APPLY_FLAG },
  async run(settings, values) {
    const apply = readApply(values);
    const list = await readRevocationList(values.text("file"));
    const done = await withDatabase(settings, async (database) => {
      const applied = await applyRevocations(database, { ...list, apply });
      return { ...applied, tokens: await applyTokens(database, list.tokens, apply) };
    });
    const followUps = list.companies.flatMap(({ companyId, followUps: ofCompany }) =>
      ofCompany.map((followUp) => ({ companyId, ...followUp })),
    );
    return {
      json: { applied: apply, ...done, followUps },
      text: withDryRunNote(apply, describe(done, followUps)),
      warnings: done.left.map(
        ({ companyId, userId }) =>
          `The last owner of company ${companyId}, ${userId}, was left. Make another owner with create-user, and repeat.`,
      ),
      failed: done.left.length > 0,
    };
  },
};

/** Revokes tokens at every service, all or none. Returns the number of those not yet revoked. */
async function applyTokens(
  database: Database,
  tokens: RevocationList["tokens"],
  apply: boolean,
): Promise<number> {
  if (tokens.length === 0) return 0;
  return database.transaction(async (transaction) => {
    const missing = new Set<string>();
    for (const service of TOKEN_AUDIENCES) {
      await actAs(transaction, service);
      const known = new Set((await listRevocationsOf(transaction, service)).map(({ jti }) => jti));
      for (const token of tokens.filter(({ jti }) => !known.has(jti))) {
        missing.add(token.jti);
        if (apply) await insertRevokedToken(transaction, service, token);
      }
    }
    await actAs(transaction, "gateway");
    const events = [...missing].map((jti): AdminEvent => ({
      companyId: null,
      action: "token.revoked",
      resourceType: "token",
      resourceId: jti,
      changes: {},
    }));
    if (apply && events.length > 0) await recordAdminEvent(transaction, ...events);
    return missing.size;
  });
}

function describe(
  done: AppliedRevocations & { tokens: number },
  followUps: readonly {
    companyId: string;
    action: string;
    resourceType: string;
    resourceId: string;
  }[],
): string {
  const lines = [
    `API keys revoked  ${done.apiKeys}`,
    `Sessions ended    ${done.sessions}`,
    `Members removed   ${done.membersRemoved}`,
    `Roles lowered     ${done.rolesLowered}`,
    `Tokens revoked    ${done.tokens}`,
  ];
  if (followUps.length > 0) lines.push("No command does these again:");
  for (const { companyId, action, resourceType, resourceId } of followUps) {
    lines.push(`  company ${companyId}: ${action} of ${resourceType} ${resourceId}`);
  }
  return lines.join("\n");
}
