import { isSecretHost } from "@workflow/definition";
import { StepFailureError } from "./action-failure.ts";

/**
 * Refuses a URL whose host is not allowed for a secret in the call (D66).
 *
 * @param whose the owner of the host in the message: "the provider's"
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
