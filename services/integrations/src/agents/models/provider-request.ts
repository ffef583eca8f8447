import { HttpClientError } from "@workflow/http-client";
import type { HttpRequester, SafeResponse } from "@workflow/http-client";
import type { AnswerRoom } from "../../provider-http/answer-room.ts";

/** One request to a provider, in the form that the AI SDK wants to make it. */
export interface ProviderRequest {
  /** Sends it through the guarded client; redirects are answers like any other. */
  readonly fetch: typeof fetch;
  /** What the HTTP client said when there was no answer. */
  readonly error: HttpClientError | null;
  /** Status and headers of the answer; null as long as there is none. */
  readonly response: Pick<SafeResponse, "status" | "headers"> | null;
}

/** How the request is made. */
export interface ProviderRequestOptions {
  readonly client: HttpRequester;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called when the request goes out. */
  readonly onSent: () => void;
  /** Where the answer's bytes are counted. */
  readonly room: AnswerRoom;
}

/** What an answer's body has at most: the raw output's 1 MiB, escaped, and what stands around it. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Statuses that the Fetch standard allows a response to have, and those without a body. */
const STATUS = { min: 200, max: 599 } as const;
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Prepares one request; `fetch` is to be called once. */
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
  // It would tell the version of the runtime.
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
