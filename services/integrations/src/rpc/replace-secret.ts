import type { ReplaceSecretRequest, Secret } from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { secretEntry } from "../domain/secret-audit.ts";
import { replaceSecret as replaceRow } from "../store/secrets.ts";
import { sealFor } from "./seal-for.ts";
import { toSecretMessage } from "./secret-message.ts";
import { assertValid, requireSecretPlace, secretNotFound } from "./secret-request.ts";

/** Gives a secret another value; the earlier one is gone. */
export function replaceSecret(context: ServiceContext): UnaryMethod<ReplaceSecretRequest, Secret> {
  const { database, audit } = context;
  return rpc({
    scopes: "secrets:write",
    async handler(request, call) {
      assertValid({ value: request.value });
      const place = requireSecretPlace(request, call);
      const sealed = await sealFor(context, place, request.value);
      const row = await database.transaction(async (transaction) => {
        const replaced = await replaceRow(transaction, place, sealed);
        if (replaced === null) throw secretNotFound();
        await audit.record(transaction, call, secretEntry("secret.replaced", replaced));
        return replaced;
      });
      audit.wake();
      return toSecretMessage(row);
    },
  });
}
