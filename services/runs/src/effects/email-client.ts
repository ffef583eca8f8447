import { Turns } from "@workflow/async";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import type { SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { Identity, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import { boundedKey } from "../domain/bounded-key.ts";
import { StepError } from "../domain/step-error.ts";
import type { EmailClient, EmailOutcome } from "../interpreter/effects/email-client.ts";
import { toPaused, unavailable } from "./provider-client.ts";
import { causeOptions } from "./cause-options.ts";
import { failureOf } from "./step-failure.ts";
import type { DoneCall, PausedCall } from "../interpreter/effects/paused-call.ts";
import type { EmailAttachment } from "../interpreter/steps/email-message.ts";

/** The address of the integrations service, and the identity for calls to it. */
export interface EmailClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

/** The service allows 60 s for a message, after waiting for another call that sends the same one. */
const TIMEOUT_MS = 90_000;

const MIB = 1024 * 1024;
/**
 * Bytes of files that a worker sends at the same time. The service holds the files of all workers until
 * it has room, and cannot refuse a file before it has arrived.
 */
const FILES_UNDER_WAY = { perTenant: 20 * MIB, total: 40 * MIB } as const;

/** Connects on first use. The service need not be running yet. */
export function createEmailClient(options: EmailClientOptions): EmailClient {
  const client = createRpcClient(EmailServiceService, {
    address: options.address,
    tls: options.tls,
    tracer: options.tracer,
    minter: createTokenMinter(options.tokenSigner, { audience: "integrations" }),
    defaultTimeoutMs: TIMEOUT_MS,
  });
  const turns = new Turns(FILES_UNDER_WAY);
  return {
    async send(cause, { named, ...letter }, { key, hasTurn }, signal) {
      const request = {
        ...letter,
        connectionId: named.step ?? undefined,
        runConnectionId: named.run ?? undefined,
        idempotencyKey: boundedKey(key),
        hasTurn,
      };
      const bytes = fileBytesOf(letter.attachments);
      const giveBack = bytes === 0 ? undefined : await turns.take(cause.companyId, signal, bytes);
      try {
        const identity = senderOf(cause.companyId);
        const options = { identity, ...causeOptions(cause), signal };
        const response = await client.sendEmail(request, options);
        return resultOf(response);
      } catch (error) {
        // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
        if (signal.aborted) throw signal.reason;
        throw isAppError(error) ? toStepError(error) : error;
      } finally {
        giveBack?.();
      }
    },
    close: () => client.close(),
  };
}

/**
 * Files that the service fetches by URL are not counted: the service waits until it has room for them.
 */
function fileBytesOf(attachments: readonly EmailAttachment[]): number {
  return attachments.reduce(
    (sum, { source }) => sum + (source.$case === "content" ? source.value.length : 0),
    0,
  );
}

/** @throws StepError when the connection cannot be used */
function resultOf({
  failure,
  pause,
  ...output
}: SendEmailResponse): DoneCall<EmailOutcome> | PausedCall {
  if (failure !== undefined) throw failureOf(failure, unavailable);
  if (pause !== undefined) return toPaused(pause);
  return { kind: "done", output };
}

/** The service acts in its own name, for the run's company. */
function senderOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "runs" },
    scopes: ["internal:effects"],
  };
}

/** The step's failure for a failed call. Our own faults stay as they are. */
function toStepError(error: AppError): AppError | StepError {
  const { message, reason, retryAfterMs, violations, details } = error;
  switch (reason) {
    case "BAD_REQUEST":
      return new StepError("EMAIL_REJECTED", message, {
        retryable: false,
        answered: true,
        ...(violations.length === 0 ? {} : { details: { problems: violations } }),
      });
    case "FORBIDDEN":
      // Without details the service's own identity lacks a permission.
      if (!isJsonObject(details) || details["field"] !== "from") return error;
      return new StepError("EMAIL_SENDER_NOT_ALLOWED", message, { retryable: false });
    case "RATE_LIMITED":
      // The quota lasts until the end of the day, which no retry policy waits for.
      return new StepError("EMAIL_QUOTA", message, {
        retryable: false,
        ...(isJsonObject(details) ? { details } : {}),
      });
    case "NOT_CONFIGURED":
      return new StepError("NOT_CONFIGURED", message, { retryable: false });
    case "UPSTREAM_ERROR":
    case "UNAVAILABLE":
      // The error is not marked `answered`: the next attempt under the same key is the same message with
      // the same Message-ID. The reader then does not get it twice.
      return new StepError(
        "EMAIL_FAILED",
        message,
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    default:
      return error;
  }
}
