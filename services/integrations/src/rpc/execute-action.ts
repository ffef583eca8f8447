import { findProviderAction } from "@workflow/catalog";
import { parseJsonText } from "@workflow/json";
import type {
  ExecuteActionRequest,
  ExecuteActionResponse,
} from "@workflow/proto/integrations/v1/actions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { StepFailureError } from "../actions/action-failure.ts";
import { callProvider } from "../actions/call-provider.ts";
import type { CallContext } from "../actions/call-provider.ts";
import { badRequest, requireText, toFailureMessage, toNamed, toPause } from "./action-message.ts";

const KEY_CHARS_MAX = 500;

/** Calls a provider's action for a step, with the credentials of its connection. */
export function executeAction(
  context: CallContext,
): UnaryMethod<ExecuteActionRequest, ExecuteActionResponse> {
  return rpc({
    scopes: "internal:effects",
    async handler(request, { identity, traceparent, signal }) {
      const inputs = parseInputs(request.inputsJson);
      const idempotencyKey = requireText("idempotencyKey", request.idempotencyKey, KEY_CHARS_MAX);
      try {
        const outcome = await callProvider(context, {
          companyId: identity.companyId,
          traceparent,
          ...requireAction(request.action),
          inputs,
          named: toNamed(request.connection),
          idempotencyKey,
          hasTurn: request.hasTurn,
          hostLimits: request.hostLimits.map(({ hosts }) => hosts),
          signal,
        });
        return outcome.kind === "done"
          ? { outcome: { $case: "outputJson", value: outcome.outputJson } }
          : { outcome: { $case: "pause", value: toPause(outcome) } };
      } catch (error) {
        return { outcome: { $case: "failure", value: toFailureMessage(error) } };
      }
    },
  });
}

function parseInputs(inputsJson: string): Record<string, unknown> {
  const parsed = parseJsonText(inputsJson, "object");
  if (!parsed.ok) throw badRequest("inputsJson", parsed.message);
  return Object.fromEntries(Object.entries(Object(parsed.value)));
}

/** A newer version may have checked the definition. */
function requireAction(id: string) {
  const found = findProviderAction(id);
  if (found !== undefined) return found;
  throw new StepFailureError({
    code: "NOT_CONFIGURED",
    message: "The action is not available in this installation.",
    details: {},
  });
}
