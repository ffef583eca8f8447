import type { Tracer } from "@workflow/tracing";
import { HttpClientError } from "./http-client-error.ts";
import type { HttpRequester } from "./safe-request.ts";

/**
 * Makes a span for each request, where the trace is recorded. A span names method and status only: a host or
 * a path may be secret to the tenant.
 */
export function tracedRequester(
  requester: HttpRequester,
  tracer: Tracer | undefined,
  traceparent: string | null | undefined,
): HttpRequester {
  if (tracer === undefined || traceparent === undefined || traceparent === null) return requester;
  return {
    async request(request, signal) {
      const method = request.method.toUpperCase();
      const span = tracer.span(`HTTP ${KNOWN.has(method) ? method : "_OTHER"}`, traceparent, {
        kind: "client",
        attributes: { "http.request.method": KNOWN.has(method) ? method : "_OTHER" },
      });
      if (span === undefined) return requester.request(request, signal);
      const headers = withTraceparent(request.headers ?? {}, span.traceparent);
      try {
        const response = await requester.request({ ...request, headers }, signal);
        span.set({ "http.response.status_code": response.status });
        span.end(response.status >= 400 ? String(response.status) : undefined);
        return response;
      } catch (error) {
        span.end(error instanceof HttpClientError ? error.code : "REFUSED");
        throw error;
      }
    },
  };
}

/** The methods that a span's name may contain; a tenant's invented method is left out. */
const KNOWN = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

function withTraceparent(
  given: Record<string, string>,
  traceparent: string,
): Record<string, string> {
  const isGiven = Object.keys(given).some((name) => name.toLowerCase() === "traceparent");
  return isGiven ? given : { ...given, traceparent };
}
