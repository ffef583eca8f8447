import { APICallError } from "ai";
import type { HttpClientError, HttpClientErrorCode } from "@workflow/http-client";
import type { Scrubber } from "@workflow/scrubber";
import { storableText } from "../../provider-http/storable-text.ts";
import type { AgentProvider } from "../../domain/agent.ts";
import { ModelCallError } from "./model-call-error.ts";
import type { ModelCallFailure } from "./model-call-error.ts";
import type { ProviderRequest } from "./provider-request.ts";
import { readRetryAfter } from "./retry-after.ts";

/** The provider of a call, and the scrubber of its error. */
export interface CalledProvider {
  readonly provider: AgentProvider;
  /** The setting that holds the key. */
  readonly keySetting: string;
  /** Removes the key from the provider's message; null without a key. */
  readonly scrubber: Scrubber | null;
}

/** An answer with an error status. It has the provider's code and message, by which callers decide. */
export class ModelStatusError extends ModelCallError {
  /** The provider's code; null without one. */
  readonly providerCode: string | null;
  /** The provider's message without the key, at most `WORDS_CHARS_MAX` characters. */
  readonly words: string;

  constructor(message: string, failure: ModelCallFailure, said: ProviderWords) {
    super(message, failure);
    this.providerCode = said.code;
    this.words = said.words;
  }
}

interface ProviderWords {
  readonly code: string | null;
  readonly words: string;
}

/** The characters of a provider's message that are read and shown. */
const WORDS_CHARS_MAX = 2_000;
const SHOWN_CHARS_MAX = 200;

/** Client errors that may pass, besides the timeout 408. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([409, 425]);

/**
 * Timeouts, including those of proxies in front of a provider: the model may have written until then.
 * Answers with other error statuses are taken to cost nothing. The operator pays when a provider bills
 * them.
 */
const TIMEOUT_STATUSES: ReadonlySet<number> = new Set([408, 504, 524]);

/** Errors that would occur again at any time. */
const FINAL_CODES: ReadonlySet<HttpClientErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
]);

/** The error of a call, from the SDK's error and the state of the exchange. */
export async function toModelCallError(
  error: unknown,
  exchange: ProviderRequest,
  called: CalledProvider,
): Promise<ModelCallError> {
  if (exchange.error !== null) return fromTransport(exchange.error, called);
  if (exchange.response === null) {
    // The SDK refused the question itself, so nothing was sent.
    return failed(called, "AGENT_REFUSED", "The AI SDK can't ask this question", { status: null });
  }
  const { status } = exchange.response;
  if (status >= 200 && status <= 299) {
    const message = `The AI provider ${called.provider} answered ${status}, but not as its API describes`;
    return failed(called, "AGENT_UNAVAILABLE", message, {
      status,
      retryable: true,
      mayHaveCost: true,
    });
  }
  return fromStatus(status, exchange, await readWords(error, called), called);
}

function fromTransport(error: HttpClientError, called: CalledProvider): ModelCallError {
  const { provider } = called;
  if (error.code === "TIMEOUT") return timedOut(provider);
  const failure = {
    status: null,
    retryable: !FINAL_CODES.has(error.code),
    mayHaveCost: error.sent,
    cause: error,
  };
  return failed(called, "AGENT_UNAVAILABLE", describe(error, provider), failure);
}

/**
 * The message omits the HTTP client's text, which names the host: the host may be a private one of the
 * operator.
 */
function describe({ code, sent }: HttpClientError, provider: AgentProvider): string {
  if (code === "RESPONSE_TOO_LARGE") {
    return `The AI provider ${provider} answered more than can be taken`;
  }
  if (sent)
    return `The connection to the AI provider ${provider} broke before the answer was complete`;
  return `The AI provider ${provider} can't be reached (${code})`;
}

/** The error for an answer that did not come in time. */
export function timedOut(provider: AgentProvider): ModelCallError {
  const message = `The AI provider ${provider} did not answer in time.`;
  return new ModelCallError(message, {
    provider,
    code: "AGENT_TIMEOUT",
    status: null,
    retryable: true,
    mayHaveCost: true,
  });
}

function fromStatus(
  status: number,
  { response }: ProviderRequest,
  said: ProviderWords,
  { provider, keySetting }: CalledProvider,
): ModelCallError {
  const { code, retryable, explained } = judge(status, said, keySetting);
  const shown = cutWords(said.words);
  const why = explained ?? (shown === "" ? null : shown);
  const message = `The AI provider ${provider} answered ${status}${why === null ? "." : `: ${why}`}`;
  const retryAfterMs = retryable ? readRetryAfter(response?.headers ?? {}) : undefined;
  const mayHaveCost = TIMEOUT_STATUSES.has(status);
  const failure = { provider, code, status, retryable, mayHaveCost, retryAfterMs };
  return new ModelStatusError(message, failure, said);
}

/** The cut text ends without a mark, so that the scrubber finds the beginning of a secret at the end. */
function cutWords(words: string): string {
  return words.slice(0, SHOWN_CHARS_MAX).replace(/[\ud800-\udbff]$/, "");
}

/** Judges an error status. `explained` replaces the provider's message, which may repeat what was sent. */
function judge(
  status: number,
  said: ProviderWords,
  keySetting: string,
): Pick<ModelCallFailure, "code" | "retryable"> & { explained?: string } {
  if (status < 400) {
    const explained = "it sends to another address, which is not followed.";
    return { code: "AGENT_UNAVAILABLE", retryable: false, explained };
  }
  if (status === 401 || status === 403) {
    const explained = `it does not take the key of ${keySetting}.`;
    return { code: "AGENT_REFUSED", retryable: false, explained };
  }
  if (status === 429) {
    // An account without credit does not recover within minutes. Both answers name the operator's
    // organization.
    const isSpent = said.code === "insufficient_quota";
    const explained = isSpent
      ? "the account of this installation is used up."
      : "it takes no more questions for now.";
    return { code: "AGENT_RATE_LIMITED", retryable: !isSpent, explained };
  }
  if (TIMEOUT_STATUSES.has(status)) return { code: "AGENT_TIMEOUT", retryable: true };
  if (status >= 500 || PASSING_STATUSES.has(status)) {
    return { code: "AGENT_UNAVAILABLE", retryable: true };
  }
  return { code: "AGENT_REFUSED", retryable: false };
}

function failed(
  { provider }: CalledProvider,
  code: ModelCallFailure["code"],
  message: string,
  {
    status,
    retryable = false,
    mayHaveCost = false,
    cause,
  }: { status: number | null; retryable?: boolean; mayHaveCost?: boolean; cause?: unknown },
): ModelCallError {
  const options = cause === undefined ? undefined : { cause };
  const failure = { provider, code, status, retryable, mayHaveCost };
  return new ModelCallError(`${message}.`, failure, options);
}

/** The SDK has the provider's message only when the body has the documented form. */
async function readWords(error: unknown, { scrubber }: CalledProvider): Promise<ProviderWords> {
  if (!APICallError.isInstance(error) || error.data === undefined) return { code: null, words: "" };
  const text = storableText(error.message);
  const words =
    scrubber === null
      ? text.slice(0, WORDS_CHARS_MAX)
      : (await scrubber.cutTextInTurns(text, WORDS_CHARS_MAX)).slice(0, WORDS_CHARS_MAX);
  return { code: readCode(error.data), words };
}

/** The error code: `error.code` in OpenAI's body, `error.type` in Anthropic's. */
function readCode(data: unknown): string | null {
  const error: unknown = member(data, "error");
  const code = member(error, "code") ?? member(error, "type");
  return typeof code === "string" ? code : null;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
