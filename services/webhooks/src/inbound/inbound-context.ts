import type { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type { RpcClient } from "@workflow/rpc";
import type { Logger } from "pino";
import type { InboundSecrets } from "../options.ts";
import type { Intake } from "../domain/inbound-message.ts";

/** The dependencies of the routes. */
export interface InboundContext {
  intake: Intake;
  accounts: RpcClient<AccountsServiceService>;
  /** A setting may have several secrets, separated by commas: see `listSecrets`. */
  secrets: InboundSecrets;
  /** Whether requests that cannot be verified are refused, except on the custom route. */
  requireSignature: boolean;
  logger: Logger;
}

/** The active secrets of a setting; none when it is not set. */
export function listSecrets(setting: string | undefined): string[] {
  return (setting ?? "")
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
}
