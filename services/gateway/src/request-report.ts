import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { RequestInfo } from "./http/request-info.ts";

/** Notes a request when its response is done or given up. */
export type RequestReport = (
  info: RequestInfo,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

/** From quick reads to synchronous runs of minutes. */
const BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Writes one log line a request, with the error where there is one, and observes its duration. Never
 * headers, query strings or bodies: they can hold secrets.
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
    // A synchronous run that failed is its workflow's affair, and answered as it should be.
    if (error === undefined || status < 500 || error.reason === "TRIGGER_ERROR") {
      logger.info(line, "request");
    } else if (error.reason === "UNAVAILABLE") {
      logger.warn({ ...line, err: error }, "request could not be served for the moment");
    } else if (error.reason === "UPSTREAM_ERROR") {
      // In the words of somebody outside, who may repeat what the caller sent.
      logger.warn(line, "request failed outside");
    } else logger.error({ ...line, err: error }, "request failed");
  };
}

/** Names it by route: paths have ids in them, and that of the custom route is a secret. */
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
