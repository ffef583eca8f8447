import type {
  BeginAuthorizationRequest,
  BeginAuthorizationResponse,
} from "@workflow/proto/integrations/v1/authorizations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { beginAuthorization as begin } from "../authorization/begin-authorization.ts";
import { parseRedirectUrl } from "../authorization/redirect-url.ts";
import type { ServiceContext } from "../context.ts";
import { requireName, requireProviderOfPath } from "./connection-request.ts";

/** Begins to connect an account. The answer has the address for the person. */
export function beginAuthorization(
  context: ServiceContext,
): UnaryMethod<BeginAuthorizationRequest, BeginAuthorizationResponse> {
  return rpc({
    scopes: "connections:write",
    async handler(request, call) {
      const provider = requireProviderOfPath(request.provider);
      const { redirectUrl, connectionName, publicOrigin, fields } = request;
      const wish = {
        provider,
        name: requireName(connectionName ?? provider.name, "connectionName"),
        fields,
        redirectUrl: redirectUrl === undefined ? null : parseRedirectUrl(redirectUrl),
        publicOrigin,
      };
      const { connectionId, authUrl, isNew } = await begin(context.authorization, wish, call);
      const message = `Send the person to authUrl to connect ${provider.name}.`;
      return { connectionId, provider: provider.id, authUrl, isNew, message };
    },
  });
}
