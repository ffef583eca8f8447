import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { Identity, RpcTls, TokenSigner } from "@workflow/rpc";
import { boundedKey } from "../domain/bounded-key.ts";
import { StepError } from "../interpreter/step-error.ts";
import type { EmailMessage } from "./email-message.ts";

/** What became of a message that the mail server took, as the step's output has it (D17). */
export interface EmailOutcome {
  messageId: string;
  /** Addresses that the mail server took, and those that it refused. */
  accepted: string[];
  rejected: string[];
}

/** The way out for e-mail: the integrations service. */
export interface EmailClient {
  /**
   * Sends one message. The same key again gives the outcome of the first call, so a step that is
   * executed twice sends once.
   *
   * @throws StepError EMAIL_REJECTED (for good), EMAIL_FAILED (may work later) or NOT_CONFIGURED;
   * the signal's reason when it was aborted
   */
  send(
    companyId: string,
    message: EmailMessage,
    idempotencyKey: string,
    signal: AbortSignal,
  ): Promise<EmailOutcome>;
  close(): void;
}

/** Where the integrations service is, and as whom it is called. */
export interface EmailClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
}

/** The service gives a message 60 s, after waiting for whoever else sends it. */
const TIMEOUT_MS = 90_000;

/** Connects on first use; the service need not be there yet. */
export function createEmailClient(options: EmailClientOptions): EmailClient {
  const client = createRpcClient(EmailServiceService, {
    address: options.address,
    tls: options.tls,
    minter: createTokenMinter(options.tokenSigner),
    defaultTimeoutMs: TIMEOUT_MS,
  });
  return {
    async send(companyId, message, idempotencyKey, signal) {
      const request = { ...message, idempotencyKey: boundedKey(idempotencyKey) };
      try {
        const identity = senderOf(companyId);
        const { messageId, accepted, rejected } = await client.sendEmail(request, {
          identity,
          signal,
        });
        return { messageId, accepted, rejected };
      } catch (error) {
        // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
        if (signal.aborted) throw signal.reason;
        throw isAppError(error) ? toStepError(error) : error;
      }
    },
    close: () => client.close(),
  };
}

/** The service acts in its own name, for the company whose run it is. */
function senderOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "runs" },
    scopes: ["internal:effects"],
  };
}

/** What a failed call means to the step; what is a fault of ours stays as it is. */
function toStepError(error: AppError): AppError | StepError {
  const { message, reason, retryAfterMs, violations } = error;
  switch (reason) {
    case "BAD_REQUEST":
      return new StepError("EMAIL_REJECTED", message, {
        retryable: false,
        answered: true,
        ...(violations.length === 0 ? {} : { details: { problems: violations } }),
      });
    case "NOT_CONFIGURED":
      return new StepError("NOT_CONFIGURED", message, { retryable: false });
    case "UPSTREAM_ERROR":
    case "UNAVAILABLE":
      // Not `answered`: under the same key the next attempt is the same message with the same
      // Message-ID, which is what keeps a reader from getting it twice.
      return new StepError(
        "EMAIL_FAILED",
        message,
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    default:
      return error;
  }
}
