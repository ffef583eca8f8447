import {
  ForeignUrlError,
  InvalidInputError,
  mayBeRepeated,
  MissingFieldError,
} from "@workflow/catalog";
import type { ActionManifest, ProviderFailure, ProviderManifest } from "@workflow/catalog";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import { storableText } from "../provider-http/storable-text.ts";
import { invalidInput, StepFailureError } from "./action-failure.ts";
import type { CredentialScrubber } from "../provider-http/credential-scrubber.ts";

/** The parts of a call that decide about its failure. */
interface FailedCall {
  provider: ProviderManifest;
  action: ActionManifest;
  isRepeatable?: boolean;
}

const MESSAGE_CHARS_MAX = 1_000;
const CODE_CHARS_MAX = 100;
/**
 * The longest pause of a step, whatever a provider says. Steps with their own HTTP requests have the
 * same limit.
 */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60_000;

/** The provider's message without credentials, because a message can repeat what was sent. */
export async function withoutCredentials(
  failure: ProviderFailure,
  { beginning }: Pick<CredentialScrubber, "beginning">,
): Promise<ProviderFailure> {
  const { code } = failure;
  return {
    ...failure,
    message: storableText(await beginning(failure.message, MESSAGE_CHARS_MAX)),
    code: code === null ? null : storableText(await beginning(code, CODE_CHARS_MAX)),
  };
}

/** The failure of a step whose call the provider has answered with an error. */
export function failedCall(
  code: "PROVIDER_ERROR" | "CREDENTIALS_REFUSED",
  { provider }: FailedCall,
  { connectionId }: ConnectionKey,
  { status, message, code: providerCode, retryable, retryAfterMs }: ProviderFailure,
): StepFailureError {
  const refusal = code === "CREDENTIALS_REFUSED";
  return new StepFailureError({
    code,
    message: refusal
      ? `${provider.name} refuses the credentials of the connection: ${message}`
      : `${provider.name}: ${message}`,
    details: {
      provider: provider.id,
      connectionId,
      status,
      code: providerCode,
      message,
      retryable,
    },
    retryable,
    // A proxy's 502 does not say whether the payment behind it was made. So the next attempt has the
    // same key, and a provider that knows keys does the payment once.
    answered: !retryable,
    ...(retryAfterMs === null ? {} : { retryAfterMs: Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) }),
  });
}

/** Turns an error of a call into the step's failure. Our own faults stay as they are. */
export function toFailure(
  error: unknown,
  call: FailedCall,
  { connectionId }: ConnectionKey,
): unknown {
  if (error instanceof InvalidInputError) {
    return invalidInput([{ path: [error.key], message: error.message }]);
  }
  const { provider, action, isRepeatable = false } = call;
  const details = { provider: provider.id, connectionId };
  if (error instanceof MissingFieldError) {
    const { message } = error;
    return new StepFailureError({ code: "CONNECTION_INCOMPLETE", message, details });
  }
  if (error instanceof ForeignUrlError) {
    return new StepFailureError({ code: "INVALID_ANSWER", message: error.message, details });
  }
  if (!(error instanceof ProviderCallError)) return error;
  const { code, message, sent, status } = error;
  // The outcome is unknown even for a permanent error, but nobody would retry that call.
  const outcomeUnknown =
    error.retryable && sent && !isRepeatable && !mayBeRepeated(provider, action);
  const retryable = error.retryable && !outcomeUnknown;
  return new StepFailureError({
    code,
    message: `${provider.name}: ${message}${outcomeUnknown ? UNKNOWN : ""}`,
    details: {
      ...details,
      status,
      code: null,
      message,
      retryable,
      ...(outcomeUnknown ? { outcomeUnknown } : {}),
    },
    retryable,
  });
}

const UNKNOWN = " Nobody knows whether the call was carried out, so it is not made again.";
