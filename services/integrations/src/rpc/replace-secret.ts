import type { ReplaceSecretRequest, Secret } from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { secretEntry } from "../domain/secret-audit.ts";
import { replaceSecret as replaceRow } from "../store/secrets.ts";
import { sealFor } from "./seal-for.ts";
import { toSecretMessage } from "./secret-message.ts";
import { requireSecretPlace, requireValid, secretNotFound } from "./secret-request.ts";

/**
 * Gives a secret another value. A change of the hosts always needs a value, so that a caller who does
 * not know the value cannot loosen its binding (D66).
 */
export function replaceSecret(context: ServiceContext): UnaryMethod<ReplaceSecretRequest, Secret> {
  const { writes, audit } = context;
  return rpc({
    scopes: "secrets:write",
    async handler(request, call) {
      const hosts = requireValid({ value: request.value, allowedHosts: request.allowedHosts });
      const place = requireSecretPlace(request, call);
      const sealed = await sealFor(context, place, request.value);
      const row = await writes.transaction(call, async (transaction) => {
        const replaced = await replaceRow(transaction, place, sealed, hosts);
        if (replaced === null) throw secretNotFound();
        const entry = secretEntry("secret.replaced", replaced, replaced.earlierHosts);
        await audit.record(transaction, call, entry);
        return replaced;
      });
      audit.wake();
      return toSecretMessage(row);
    },
  });
}
