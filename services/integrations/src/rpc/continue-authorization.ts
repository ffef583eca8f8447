import type {
  ContinueAuthorizationRequest,
  ContinueAuthorizationResponse,
} from "@workflow/proto/integrations/v1/authorizations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";

/** Returns the next address for the person on an attempt's page. */
export function continueAuthorization({
  attemptPage,
}: ServiceContext): UnaryMethod<ContinueAuthorizationRequest, ContinueAuthorizationResponse> {
  return rpc({
    scopes: "internal:authorizations",
    handler: async ({ token }) => ({ url: await attemptPage.connectLinkOf(token) }),
  });
}
