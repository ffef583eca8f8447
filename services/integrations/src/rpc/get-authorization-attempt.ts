import { AuthorizationAttempt_State as State } from "@workflow/proto/integrations/v1/authorizations";
import type {
  AuthorizationAttempt,
  GetAuthorizationAttemptRequest,
} from "@workflow/proto/integrations/v1/authorizations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { Standing } from "../authorization/attempt-page.ts";
import type { ServiceContext } from "../context.ts";

/** Returns the state of an attempt, for its waiting page. */
export function getAuthorizationAttempt({
  attemptPage,
}: ServiceContext): UnaryMethod<GetAuthorizationAttemptRequest, AuthorizationAttempt> {
  return rpc({
    scopes: "internal:authorizations",
    async handler({ token }) {
      const { attempt, providerName, standing } = await attemptPage.standingOf(token);
      const { provider, connectionId } = attempt;
      return { state: STATES[standing], provider, providerName, connectionId };
    },
  });
}

const STATES: Readonly<Record<Standing, State>> = {
  waiting: State.WAITING,
  ready: State.READY,
  completed: State.COMPLETED,
  over: State.OVER,
};
