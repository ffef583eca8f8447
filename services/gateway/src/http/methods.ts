import type { ServerResponse } from "node:http";
import { AppError } from "@workflow/errors";
import type { RequestHandler } from "express";

/** The request headers that pages of allowed origins may send, beyond those that every page may. */
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
/** Two hours, the longest time that browsers cache it. */
const PREFLIGHT_SECONDS = 7_200;

/**
 * Answers OPTIONS of a path. It needs no credential and counts toward no limit, since browsers send
 * it by themselves before a page's request to another origin.
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
 * Refuses a method that a path does not have; the `Allow` header lists those that it has.
 *
 * @param methods without OPTIONS
 */
export function wrongMethod(response: ServerResponse, methods: readonly string[]): AppError {
  response.setHeader("Allow", allowOf(methods));
  return new AppError("METHOD_NOT_ALLOWED", `Use ${methods.join(", ")} here.`);
}

/** Serves GET and HEAD of a path by a handler, and refuses other methods. */
export function forReading(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { method } = request;
    if (method === "GET" || method === "HEAD") return handler(request, response, next);
    if (method === "OPTIONS") return answerOptions(response, READING);
    throw wrongMethod(response, READING);
  };
}

/** The methods of a read-only path, beside OPTIONS. */
export const READING: readonly string[] = ["GET", "HEAD"];

function allowOf(methods: readonly string[]): string {
  return [...methods, "OPTIONS"].join(", ");
}
