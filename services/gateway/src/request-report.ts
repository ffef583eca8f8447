import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { RequestInfo } from "./http/request-info.ts";

/** Reports a request when its response is complete or was aborted. */
export type RequestReport = (
  info: RequestInfo,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

/** The range goes from quick reads to synchronous runs of several minutes. */
const BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Writes one log line for each request, with the error where there is one, and observes the duration.
 * Headers, query strings and bodies are never logged, because they can hold secrets.
 */
export function createRequestReport(logger: Logger, registry?: Registry): RequestReport {
  const duration =
    registry === undefined
      ? undefined
      : new Histogram({
          name: "gateway_http_request_duration_seconds",
          help: "Time from the head of a request to the end of its response.",
          labelNames: ["method", "route", "status"],
          buckets: BUCKETS_S,
          registers: [registry],
        });
  return (info, request, response) => {
    const durationMs = performance.now() - info.startedAt;
    const { requestId, companyId, error } = info;
    const route = info.route ?? "unmatched";
    const method = request.method ?? "";
    const status = response.statusCode;
    const isComplete = response.writableFinished;
    duration?.observe({ method, route, status }, durationMs / 1000);
    endSpan(info, method, status);
    const line = {
      requestId,
      ...(info.span === undefined ? {} : { trace_id: info.span.traceId }),
      company: companyId,
      method,
      route,
      status,
      code: error?.reason,
      durationMs: Math.round(durationMs * 1000) / 1000,
      ...(isComplete ? {} : { disconnected: true }),
    };
    // The API worked correctly when a synchronous run failed: the workflow is at fault.
    if (error === undefined || status < 500 || error.reason === "TRIGGER_ERROR") {
      logger.info(line, "request");
    } else if (error.reason === "UNAVAILABLE") {
      logger.warn({ ...line, err: error }, "request could not be served for the moment");
    } else if (error.reason === "UPSTREAM_ERROR") {
      // The error's text comes from a third party and may repeat what the caller sent, so it is not
      // logged.
      logger.warn(line, "request failed outside");
    } else logger.error({ ...line, err: error }, "request failed");
  };
}

/**
 * Ends the span of a request. The span is named by the route, because paths contain ids, and the path
 * of a custom webhook contains a secret.
 */
function endSpan(
  { span, route = "unmatched", companyId, error }: RequestInfo,
  method: string,
  status: number,
): void {
  if (span === undefined) return;
  span.rename(`${method} ${route}`);
  span.set({
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
    "workflow.company.id": companyId,
    "workflow.error.code": error?.reason,
  });
  span.end(status >= 500 ? (error?.reason ?? String(status)) : undefined);
}
