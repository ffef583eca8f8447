import {
  deleteExpiredRevocations,
  insertRevokedToken,
  parseRevocation,
  TOKEN_AUDIENCES,
} from "@workflow/rpc";
import type { NamedRevocation } from "@workflow/rpc";
import { recordAdminEvent } from "@workflow/service-gateway/admin";
import { actAs } from "./act-as.ts";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Every service has its own list, which only its role can write. One transaction writes all of them, or none.
 */
export const revokeTokenCommand: Command = {
  summary: "Takes a minted token back, named by itself or by its jti: refused within 5 seconds.",
  flags: { token: { placeholder: "TOKEN|JTI" } },
  async run(settings, values) {
    const revoked = toRevocation(values.text("token"));
    await withDatabase(settings, (database) =>
      database.transaction(async (transaction) => {
        for (const service of TOKEN_AUDIENCES) {
          await actAs(transaction, service);
          await deleteExpiredRevocations(transaction, service);
          await insertRevokedToken(transaction, service, revoked);
        }
        await actAs(transaction, "gateway");
        await recordAdminEvent(transaction, {
          companyId: revoked.companyId,
          action: "token.revoked",
          resourceType: "token",
          resourceId: revoked.jti,
          changes: {},
        });
      }),
    );
    const { jti } = revoked;
    const expiresAt = revoked.expiresAt.toISOString();
    return { json: { jti, expiresAt }, text: `Revoked ${jti}; forgotten after ${expiresAt}` };
  },
};

function toRevocation(text: string): NamedRevocation {
  const revoked = parseRevocation(text, new Date());
  if (revoked !== null) return revoked;
  throw new UsageError("--token must be a token that mint-token has made, or its jti");
}
