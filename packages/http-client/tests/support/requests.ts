import { HttpClientError, createSafeHttpClient } from "@workflow/http-client";
import type { SafeHttpClient, SafeHttpClientOptions, SafeRequest } from "@workflow/http-client";

/** A client that may talk to the tests' own servers. */
export function createLocalClient(options: Partial<SafeHttpClientOptions> = {}): SafeHttpClient {
  return createSafeHttpClient({ allowPrivate: true, ...options });
}

/** A GET with generous limits. */
export function get(url: string, rest: Partial<SafeRequest> = {}): SafeRequest {
  return { method: "GET", url, timeoutMs: 60_000, maxResponseBytes: 1_000_000, ...rest };
}

/** The error that a request ends with; it must be of the package's own class. */
export async function failureOf(request: Promise<unknown>): Promise<HttpClientError> {
  try {
    await request;
  } catch (error) {
    if (error instanceof HttpClientError) return error;
    throw new Error("expected an HttpClientError", { cause: error });
  }
  throw new Error("expected the request to fail");
}
