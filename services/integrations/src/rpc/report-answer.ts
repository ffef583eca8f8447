import { findFailure, findProvider } from "@workflow/catalog";
import type {
  ReportAnswerRequest,
  ReportAnswerResponse,
} from "@workflow/proto/integrations/v1/actions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { CallContext } from "../actions/call-provider.ts";
import { requireConnectionKey } from "../connections/connection-key.ts";
import { findConnection } from "../store/connections.ts";

const AGE_MS_MAX = 60 * 60_000;

/** Pauses a connection when the answer to a step's own HTTP request means too many calls. */
export function reportAnswer(
  context: CallContext,
): UnaryMethod<ReportAnswerRequest, ReportAnswerResponse> {
  return rpc({
    scopes: "internal:effects",
    async handler({ connectionId, status, headers, ageMs }, call) {
      const key = requireConnectionKey(connectionId, call);
      // The row suffices, because a pause needs no credentials.
      const row = await findConnection(context.database, key);
      // A connection that was deleted meanwhile needs no pause.
      const provider = row === null ? undefined : findProvider(row.provider);
      if (provider === undefined) return {};
      const failure = findFailure(provider, { status, headers, body: null }, Date.now());
      if (failure?.limited !== true) return {};
      const age = Math.min(Math.max(ageMs, 0), AGE_MS_MAX);
      const { retryAfterMs } = failure;
      const waitMs = await context.pauses.pause({ ...key, retryAfterMs, ageMs: age });
      return waitMs === null ? {} : { pause: { waitMs } };
    },
  });
}
