import type { ServerResponse } from "node:http";
import { AppError } from "@workflow/errors";
import type { RequestHandler } from "express";

/** What pages of the origins that may call us can send beside what every page can. */
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Protocol-Version",
  "Traceparent",
  "X-Api-Key",
  "X-Request-Id",
].join(", ");
/** Two hours, the most that browsers keep it for. */
const PREFLIGHT_SECONDS = 7_200;

/**
 * Says what may be done with a path, to anybody: OPTIONS asks for no credential and counts for no
 * limit, as browsers send it by themselves before a page's request to another origin.
 *
 * @param methods without OPTIONS
 */
export function answerOptions(response: ServerResponse, methods: readonly string[]): void {
  response.statusCode = 204;
  response.setHeader("Allow", allowOf(methods));
  const isPreflight = response.req.headers["access-control-request-method"] !== undefined;
  if (isPreflight && response.hasHeader("Access-Control-Allow-Origin")) {
    response.setHeader("Access-Control-Allow-Methods", methods.join(", "));
    response.setHeader("Access-Control-Allow-Headers", REQUEST_HEADERS);
    response.setHeader("Access-Control-Max-Age", PREFLIGHT_SECONDS);
  }
  response.end();
}

/**
 * The refusal of a method that a path does not have; the response says which ones it has.
 *
 * @param methods without OPTIONS
 */
export function wrongMethod(response: ServerResponse, methods: readonly string[]): AppError {
  response.setHeader("Allow", allowOf(methods));
  return new AppError("METHOD_NOT_ALLOWED", `Use ${methods.join(", ")} here.`);
}

/** Serves GET and HEAD of a path by a handler, and says so to those who come with other methods. */
export function forReading(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { method } = request;
    if (method === "GET" || method === "HEAD") return handler(request, response, next);
    if (method === "OPTIONS") return answerOptions(response, READING);
    throw wrongMethod(response, READING);
  };
}

/** What may be done with what is only read, beside OPTIONS. */
export const READING: readonly string[] = ["GET", "HEAD"];

function allowOf(methods: readonly string[]): string {
  return [...methods, "OPTIONS"].join(", ");
}
