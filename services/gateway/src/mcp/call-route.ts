import { AppError } from "@workflow/errors";
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

/** As much as is handed to a model at most; larger answers are for the REST API. */
const TEXT_CHARS_MAX = 1024 * 1024;

/** Calls an operation of the API in the name of the caller, who needs its scope. Its `data` as JSON text. */
export async function callRoute(
  context: RouteContext,
  route: Route,
  { params = {}, query = {}, body = EMPTY_BODY }: RouteCall,
): Promise<{ status: number; text: string }> {
  if (route.scope === "session" || route.scope === "everybody") {
    throw new Error(`${route.path} is no operation for API keys.`);
  }
  if (!context.identity.scopes.includes(route.scope)) {
    throw new AppError("FORBIDDEN", `The API key lacks the scope ${route.scope}.`);
  }
  const reply = await route.run(context, { params, query, body, upload: null });
  if ("longData" in reply) return { status: 200, text: await gather(reply.longData) };
  if (!("status" in reply)) throw new Error(`${route.path} does not answer with a document.`);
  const text = writeJson(reply.data);
  requireFitting(text.length);
  return { status: reply.status, text };
}

async function gather(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    requireFitting(text.length + piece.length);
    text += piece;
  }
  return text;
}

function requireFitting(chars: number): void {
  if (chars <= TEXT_CHARS_MAX) return;
  const message = `The answer is longer than ${TEXT_CHARS_MAX} characters. Read it in parts over the REST API.`;
  throw new AppError("BAD_REQUEST", message);
}
