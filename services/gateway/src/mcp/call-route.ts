import { AppError } from "@workflow/errors";
import type { Scope } from "../domain/scopes.ts";
import { EMPTY_BODY } from "../http/json-body.ts";
import type { JsonBody } from "../http/json-body.ts";
import { writeJson } from "../http/write-json.ts";
import type { RouteContext } from "../route-context.ts";
import type { Route } from "../route-table-entry.ts";

/** What a route is called with, as if it had come over HTTP. */
interface RouteCall {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: JsonBody;
}

/**
 * Calls an operation of the API in the name of the caller, who needs its scope. Its `data` as JSON text, of
 * `charsMax` characters at most.
 */
export async function callRoute(
  context: RouteContext,
  route: Route,
  { params = {}, query = {}, body = EMPTY_BODY }: RouteCall,
  charsMax = Number.POSITIVE_INFINITY,
): Promise<string> {
  if (route.scope === "session" || route.scope === "everybody") {
    throw new Error(`${route.path} is no operation for API keys.`);
  }
  requireScope(context, route.scope);
  const reply = await route.run(context, { params, query, body, upload: null });
  if ("longData" in reply) return gather(reply.longData, charsMax);
  if (!("status" in reply)) throw new Error(`${route.path} does not answer with a document.`);
  const text = writeJson(reply.data);
  requireFitting(text.length, charsMax);
  return text;
}

/** @throws AppError FORBIDDEN when the caller's key lacks a scope */
export function requireScope({ identity }: RouteContext, scope: Scope): void {
  if (identity.scopes.includes(scope)) return;
  throw new AppError("FORBIDDEN", `The API key lacks the scope ${scope}.`);
}

async function gather(pieces: AsyncIterable<string>, charsMax: number): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    requireFitting(text.length + piece.length, charsMax);
    text += piece;
  }
  return text;
}

function requireFitting(chars: number, charsMax: number): void {
  if (chars <= charsMax) return;
  const message = `The answer is longer than ${charsMax} characters. Read it in parts over the REST API.`;
  throw new AppError("BAD_REQUEST", message);
}
