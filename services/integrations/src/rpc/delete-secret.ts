import type {
  DeleteSecretRequest,
  DeleteSecretResponse,
} from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { deleteSecret as deleteRow } from "../store/secrets.ts";
import { requireSecretPlace, secretNotFound } from "./secret-request.ts";

/** Deletes a secret. Runs that need it fail from now on. */
export function deleteSecret({
  database,
}: ServiceContext): UnaryMethod<DeleteSecretRequest, DeleteSecretResponse> {
  return rpc({
    scopes: "secrets:write",
    async handler(request, context) {
      const deleted = await deleteRow(database, requireSecretPlace(request, context));
      if (!deleted) throw secretNotFound();
      return {};
    },
  });
}
