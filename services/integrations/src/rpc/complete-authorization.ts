import { AppError } from "@workflow/errors";
import type {
  CompleteAuthorizationRequest,
  CompleteAuthorizationResponse,
} from "@workflow/proto/integrations/v1/authorizations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { completeAuthorization as complete } from "../authorization/complete-authorization.ts";
import type { ServiceContext } from "../context.ts";

/** The limits of a callback's parameters; codes and tokens of providers have some hundred characters. */
const PARAMS_MAX = 30;
const PARAM_CHARS_MAX = 8_192;

/** Handles a callback, none of whose content is trusted (D39). */
export function completeAuthorization(
  context: ServiceContext,
): UnaryMethod<CompleteAuthorizationRequest, CompleteAuthorizationResponse> {
  return rpc({
    scopes: "internal:authorizations",
    async handler({ provider, params }, call) {
      requireBounded(params);
      const { attempt, refusal } = await complete(
        context.authorization,
        { provider, params },
        { requestId: call.requestId, client: call.client },
      );
      return {
        connectionId: attempt.connectionId,
        provider: attempt.provider,
        redirectUrl: attempt.redirectUrl ?? undefined,
        error: refusal?.code,
        message: refusal?.message,
      };
    },
  });
}

function requireBounded(params: Readonly<Record<string, string>>): void {
  const entries = Object.entries(params);
  const isLong = entries.some(([, value]) => value.length > PARAM_CHARS_MAX);
  if (entries.length <= PARAMS_MAX && !isLong) return;
  throw new AppError("BAD_REQUEST", "The callback has too many parameters, or too long ones.");
}
