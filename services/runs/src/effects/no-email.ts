import { StepError } from "../domain/step-error.ts";
import type { EmailClient } from "../interpreter/effects/email-client.ts";

/** The client where no service sends e-mail. */
export const NO_EMAIL: EmailClient = {
  send() {
    const message = "No service sends e-mail in this installation.";
    throw new StepError("NOT_CONFIGURED", message, { retryable: false });
  },
  close() {},
};
