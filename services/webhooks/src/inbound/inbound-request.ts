import { AppError } from "@workflow/errors";

/** A POST to one of the routes of inbound webhooks, its body read. */
export interface InboundRequest {
  /** The path behind `/webhooks/`, still percent-encoded: `stripe`, `custom/<company>/<path>`. */
  path: string;
  query: URLSearchParams;
  /** The address that the sender called, with scheme, host and query, according to the gateway. */
  url: string;
  /** Values by lower-case name. A header that was sent several times has several values. */
  headers: ReadonlyMap<string, readonly string[]>;
  /** At most 1 MiB (D4). */
  rawBody: Buffer;
  requestId: string;
  /** W3C trace context of the request, where its trace is recorded. */
  traceparent?: string | undefined;
  receivedAt: Date;
}

/** Answers a request. If it throws an AppError, the answer is `{error}` with the status of the reason. */
export type InboundRoute = (request: InboundRequest) => Promise<InboundAnswer>;

/** The answer to a sender. */
export interface InboundAnswer {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

/**
 * The value of a header that identifies the sender; null when it is missing. With several values it is
 * unknown which one a proxy has checked.
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
