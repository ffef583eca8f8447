import { AppError } from "@workflow/errors";

/** A POST to one of the routes of inbound webhooks, its body read. */
export interface InboundRequest {
  /** Behind `/webhooks/`, still percent-encoded: `stripe`, `custom/<company>/<path>`. */
  path: string;
  query: URLSearchParams;
  /** The address that the sender has called, with scheme, host and query, as far as the gateway tells. */
  url: string;
  /** By lower-case name; a header that was sent several times has several values. */
  headers: ReadonlyMap<string, readonly string[]>;
  /** At most 1 MiB (D4). */
  rawBody: Buffer;
  requestId: string;
  /** W3C trace context of the request, where its trace is recorded. */
  traceparent?: string | undefined;
  receivedAt: Date;
}

/** Answers a request, with `{error}` and the status of its reason when it throws an AppError. */
export type InboundRoute = (request: InboundRequest) => Promise<InboundAnswer>;

/** What a sender is answered. */
export interface InboundAnswer {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

/**
 * The value of a header that says who the sender is; null when it is missing. Which of several values
 * another party has looked at nobody knows.
 *
 * @throws AppError UNAUTHORIZED when it was sent more than once
 */
export function findSignatureHeader(
  { headers }: Pick<InboundRequest, "headers">,
  name: string,
): string | null {
  const [value, ...others] = headers.get(name) ?? [];
  if (others.length > 0) {
    throw new AppError("UNAUTHORIZED", `The header ${name} must be sent once.`);
  }
  return value ?? null;
}
