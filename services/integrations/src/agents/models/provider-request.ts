import { HttpClientError } from "@workflow/http-client";
import type { HttpRequester, SafeResponse } from "@workflow/http-client";
import type { AnswerRoom } from "../../provider-http/answer-room.ts";

/** One request to a provider, as the AI SDK makes it. */
export interface ProviderRequest {
  /** Sends the request through the guarded client; redirects are answers like any other. */
  readonly fetch: typeof fetch;
  /** The HTTP client's error when there was no answer. */
  readonly error: HttpClientError | null;
  /** Status and headers of the answer; null without an answer. */
  readonly response: Pick<SafeResponse, "status" | "headers"> | null;
}

/** The options of a request. */
export interface ProviderRequestOptions {
  readonly client: HttpRequester;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called when the request is sent. */
  readonly onSent: () => void;
  /** Reserves memory for the answer's bytes. */
  readonly room: AnswerRoom;
}

/** The limit of an answer's body: the raw output's 1 MiB, escaped, and the envelope. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Statuses that the Fetch standard allows a response to have, and those without a body. */
const STATUS = { min: 200, max: 599 } as const;
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Prepares one request; call `fetch` once. */
export function openProviderRequest(options: ProviderRequestOptions): ProviderRequest {
  const exchange: { -readonly [Key in keyof ProviderRequest]: ProviderRequest[Key] } = {
    error: null,
    response: null,
    fetch: async (input, init) => {
      try {
        const response = await send(input, init, options);
        exchange.response = response;
        return toResponse(response);
      } catch (error) {
        if (error instanceof HttpClientError) exchange.error = error;
        throw error;
      }
    },
  };
  return exchange;
}

function send(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  { client, signal, timeoutMs, onSent, room }: ProviderRequestOptions,
): Promise<SafeResponse> {
  if (typeof input !== "string" || typeof init?.body !== "string") {
    throw new HttpClientError("INVALID_REQUEST", "The request to the AI provider has no text.");
  }
  const headers = Object.fromEntries(new Headers(init.headers));
  // The header would reveal the version of the runtime.
  delete headers["user-agent"];
  onSent();
  return client.request(
    {
      method: init.method ?? "POST",
      url: input,
      headers,
      body: init.body,
      timeoutMs,
      maxResponseBytes: ANSWER_BYTES_MAX,
      onData: (bytes) => room.take(bytes),
    },
    signal,
  );
}

function toResponse({ status, headers, body }: SafeResponse): Response {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value]) given.append(name, each);
  }
  const known = status >= STATUS.min && status <= STATUS.max;
  return new Response(BODILESS.has(status) ? null : new Uint8Array(body), {
    status: known ? status : STATUS.max,
    headers: given,
  });
}
