import { StepError } from "../domain/step-error.ts";
import type { ProviderClient } from "../interpreter/effects/provider-client.ts";

/** The client where no service calls providers. */
export const NO_PROVIDERS: ProviderClient = {
  execute: () => Promise.reject(notThere()),
  authorize: () => Promise.reject(notThere()),
  report: () => Promise.resolve(null),
  close() {},
};

function notThere(): StepError {
  const message = "No service calls providers in this installation.";
  return new StepError("NOT_CONFIGURED", message, { retryable: false });
}
