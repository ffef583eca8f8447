import { AuthorizationAttempt_State as State } from "@workflow/proto/integrations/v1/authorizations";
import type {
  AuthorizationAttempt,
  GetAuthorizationAttemptRequest,
} from "@workflow/proto/integrations/v1/authorizations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { AttemptStanding } from "../authorization/attempt-page.ts";
import type { ServiceContext } from "../context.ts";

/** Says how an attempt stands, for the page that waits for it. */
export function getAuthorizationAttempt({
  attemptPage,
}: ServiceContext): UnaryMethod<GetAuthorizationAttemptRequest, AuthorizationAttempt> {
  return rpc({
    scopes: "internal:authorizations",
    async handler({ token }) {
      const standing = await attemptPage.standingOf(token);
      const { provider, connectionId } = standing.attempt;
      return {
        state: stateOf(standing),
        provider,
        providerName: standing.providerName,
        connectionId,
      };
    },
  });
}

function stateOf({ attempt: { state }, isReady }: AttemptStanding): State {
  switch (state) {
    case "open":
      return isReady ? State.READY : State.WAITING;
    case "completed":
      return State.COMPLETED;
    case "replaced":
    case "abandoned":
      return State.OVER;
    default:
      return state satisfies never;
  }
}
