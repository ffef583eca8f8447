import type { ActionManifest, ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { StepFailureError } from "../actions/action-failure.ts";
import { callProvider } from "../actions/call-provider.ts";
import { storableText } from "../provider-http/storable-text.ts";
import type { CallContext } from "../actions/call-provider.ts";
import type { Delivery, MailWay, OutgoingMessage } from "./delivery.ts";
import type { Mailer } from "./mailers/mailer.ts";

/** A connection of an e-mail provider. */
export interface MailConnection {
  connectionId: string;
  provider: ProviderManifest;
  /** The catalog's action that the call replaces. */
  action: ActionManifest;
  mailer: Mailer;
}

/** The connection is paused, so nothing was sent. */
export class PausedConnectionError extends Error {
  override readonly name = "PausedConnectionError";
  readonly pause: { waitMs: number; message?: string };

  constructor(pause: { waitMs: number; message?: string }) {
    super("The connection is paused.");
    this.pause = pause;
  }
}

const STATUS_CHARS_MAX = 100;

/**
 * Sends messages through a connection of the company. Beyond the errors of a MailWay it throws
 * StepFailureError when the connection cannot be used, and PausedConnectionError.
 *
 * @param hasTurn whether the caller's turn has come
 */
export function createConnectionWay(
  context: CallContext,
  { connectionId, provider, action, mailer }: MailConnection,
  hasTurn: boolean,
): MailWay {
  return {
    name: provider.name,
    async send(message, { companyId, idempotencyKey }, signal) {
      const call = {
        companyId,
        provider,
        action: sendingAction(action, mailer, message),
        inputs: {},
        named: { step: connectionId, run: undefined },
        idempotencyKey,
        hasTurn,
        // A message's templates get no secret that is bound to hosts (D66).
        hostLimits: [],
        // The same Message-ID means the same message, so a repeat is harmless (ADR 38).
        isRepeatable: true,
        signal,
      };
      try {
        const outcome = await callProvider(context, call);
        if (outcome.kind === "paused") throw new PausedConnectionError(outcome);
        const output: unknown = JSON.parse(outcome.outputJson);
        const id = typeof output === "string" ? storableText(output) : null;
        return { kind: "sent", rejected: [], providerMessageId: id };
      } catch (error) {
        // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
        if (signal.aborted) throw signal.reason;
        return refusalOf(error);
      }
    },
  };
}

/** The catalog's action with a message instead of inputs. */
function sendingAction(
  action: ActionManifest,
  mailer: Mailer,
  message: OutgoingMessage,
): ActionManifest {
  return {
    ...action,
    inputs: [],
    request: { ...action.request, build: ({ parts }) => mailer.build(parts, message) },
    answer: { read: (answer) => mailer.readMessageId(answer) },
  };
}

/** The provider's refusal of the message itself; other errors are thrown. */
function refusalOf(error: unknown): Delivery {
  if (!(error instanceof StepFailureError)) throw error;
  const { code, message, details, retryable, retryAfterMs } = error.failure;
  if (retryable === true) {
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    throw new AppError("UPSTREAM_ERROR", message, { ...options, cause: error });
  }
  const status = details["status"];
  if (code !== "PROVIDER_ERROR" || typeof status !== "number") throw error;
  const named = details["code"];
  return {
    kind: "refused",
    reply: {
      code: status,
      status: typeof named === "string" ? named.slice(0, STATUS_CHARS_MAX) : null,
      text: message,
    },
  };
}
