import { isSecretHost } from "@workflow/definition";
import { StepFailureError } from "./action-failure.ts";

/**
 * Refuses a URL to whose host not all secrets in a call may go (D66).
 *
 * @param whose says whose host it is, for the message: "the provider's"
 * @throws StepFailureError SECRET_HOST_NOT_ALLOWED
 */
export function assertHostAllowed(
  url: string,
  limits: readonly (readonly string[])[],
  whose: string,
): void {
  const hostname = URL.parse(url)?.hostname ?? "";
  if (limits.every((hosts) => isSecretHost(hosts, hostname))) return;
  throw new StepFailureError({
    code: "SECRET_HOST_NOT_ALLOWED",
    message: `A secret in the inputs is bound to hosts (allowedHosts), and ${whose} is not among them.`,
    details: {},
  });
}
