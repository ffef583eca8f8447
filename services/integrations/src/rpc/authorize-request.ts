import type {
  AuthorizeRequestRequest,
  AuthorizeRequestResponse,
  RequestAuthorization,
} from "@workflow/proto/integrations/v1/actions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { signRequest } from "../actions/authorize-request.ts";
import type { CallContext } from "../actions/call-provider.ts";
import { chooseConnection } from "../actions/choose-connection.ts";
import { toFailureMessage, toNamed } from "./action-message.ts";

/** Returns a connection's credentials to a run that is about to send them to the provider. */
export function authorizeRequest(
  context: CallContext,
): UnaryMethod<AuthorizeRequestRequest, AuthorizeRequestResponse> {
  return rpc({
    scopes: "internal:secrets",
    async handler(request, { identity }) {
      const { companyId } = identity;
      try {
        const named = toNamed(request.connection);
        const chosen = await chooseConnection(context, companyId, request.provider, named);
        const { provider, connection } = chosen;
        const waitMs = await context.pauses.waitFor(connection, request.hasTurn);
        if (waitMs !== null) return { outcome: { $case: "pause", value: { waitMs } } };
        const parts = signRequest(
          provider,
          connection,
          context.providerHttp.baseUrlOf(provider.id),
        );
        const value: RequestAuthorization = {
          ...parts,
          connectionId: connection.connectionId,
          provider: provider.id,
          secrets: [...parts.secrets],
        };
        return { outcome: { $case: "authorization", value } };
      } catch (error) {
        return { outcome: { $case: "failure", value: toFailureMessage(error) } };
      }
    },
  });
}
