import type {
  FoundConnection,
  ReportBrokerAuthorizationRequest,
} from "@workflow/proto/integrations/v1/accounts";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { takeBrokerReport } from "../authorization/take-broker-report.ts";
import type { ServiceContext } from "../context.ts";
import { toFoundConnection } from "./found-connection-message.ts";

/** Handles the broker's report about an attempt or a renewal. The broker is asked before anything changes. */
export function reportBrokerAuthorization(
  context: ServiceContext,
): UnaryMethod<ReportBrokerAuthorizationRequest, FoundConnection> {
  return rpc({
    scopes: "internal:accounts",
    async handler(report, { requestId, client }) {
      const connection = await takeBrokerReport(context, report, { requestId, client });
      return toFoundConnection(connection);
    },
  });
}
