import type {
  DeleteSecretRequest,
  DeleteSecretResponse,
} from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { secretEntry } from "../domain/secret-audit.ts";
import { deleteSecret as deleteRow } from "../store/secrets.ts";
import { requireSecretPlace, secretNotFound } from "./secret-request.ts";

/** Deletes a secret. Runs that need it fail from now on. */
export function deleteSecret({
  writes,
  audit,
}: ServiceContext): UnaryMethod<DeleteSecretRequest, DeleteSecretResponse> {
  return rpc({
    scopes: "secrets:write",
    async handler(request, call) {
      const place = requireSecretPlace(request, call);
      await writes.transaction(call, async (transaction) => {
        const deleted = await deleteRow(transaction, place);
        if (deleted === null) throw secretNotFound();
        await audit.record(
          transaction,
          call,
          secretEntry("secret.deleted", deleted, deleted.allowedHosts),
        );
      });
      audit.wake();
      return {};
    },
  });
}
