import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { AppError } from "@workflow/errors";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { refuseForeignOrigin } from "../http/admission.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { answerOptions, wrongMethod } from "../http/methods.ts";
import { createContext } from "../http/pipeline.ts";
import type { PipelineDependencies } from "../http/pipeline.ts";
import { readBody } from "../http/read-body.ts";
import { requestInfoOf } from "../http/request-info.ts";
import { createMcpServer } from "./create-mcp-server.ts";

/** Where AI clients find the tools and resources of their company. */
export const MCP_PATH = "/mcp";

const METHODS = ["POST"] as const;
/** The arguments of a tool are the input of a run: 1 MiB (D4), and what MCP puts around it. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** The scheme by which most MCP clients send a key; `x-api-key` is as good. */
const BEARER = /^Bearer +(\S+)$/i;
/** What the protocol does not have to see. */
const CREDENTIALS = ["authorization", "cookie", "x-api-key"];

export interface McpOptions extends PipelineDependencies {
  logger: Logger;
}

/**
 * Serves the Model Context Protocol over streamable HTTP, without sessions: each request stands for
 * itself, so any gateway may answer it. An API key says whose tools are served. A request counts in the
 * key's bucket `execute` when it calls a tool, else in `read` (D9).
 */
export function serveMcp(options: McpOptions): RequestHandler {
  const { authenticator, rateLimits, connections, logger } = options;
  return async (request, response) => {
    const info = requestInfoOf(request);
    info.route = MCP_PATH;
    if (request.method === "OPTIONS") return answerOptions(response, METHODS);
    // The server tells nothing by itself, so there is no stream to open by GET.
    if (request.method !== "POST") throw wrongMethod(response, METHODS);
    refuseForeignOrigin(request, info);
    const apiKey = keyOf(request);
    if (apiKey === undefined) response.setHeader("WWW-Authenticate", "Bearer");
    const caller = await authenticator.authenticate({ apiKey, sessionToken: undefined });
    const { identity } = caller;
    info.companyId = identity.companyId;
    const message = await readMessage(request);
    const isCall = Reflect.get(message, "method") === "tools/call";
    await rateLimits.admit(caller, isCall ? "execute" : "read", response);
    connections.claim(response, identity.companyId);
    const exchange = new AbortController();
    response.once("close", () => exchange.abort());
    const { signal } = exchange;
    const { requestId, client, traceparent } = info;
    const trace = traceparent === undefined ? {} : { traceparent };
    const call = { identity, requestId, client, signal, ...trace };
    const context = createContext(options, caller, info, request, call);
    const onerror = (err: Error): void => logger.debug({ err, requestId }, "an MCP request failed");
    const handler = createMcpHandler(() => createMcpServer(context, logger), { onerror });
    try {
      const given = toWebRequest(request, message, signal);
      await send(await handler.fetch(given, { parsedBody: message }), response, signal);
    } finally {
      await handler.close();
    }
  };
}

/** A key is taken from whichever header has one; sessions are for people. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const given = headers["x-api-key"];
  if (given !== undefined) return Array.isArray(given) ? given.join(",") : given;
  return headers.authorization?.match(BEARER)?.[1];
}

/** Reads one JSON-RPC message, an object: a batch would be many calls that count as one. */
async function readMessage(request: IncomingMessage): Promise<object> {
  const bytes = await readBody(request, BODY_BYTES_MAX);
  if (bytes === null) throw new AppError("BAD_REQUEST", "A JSON-RPC message is required.");
  const { value } = parseJsonBody(bytes, request.headers);
  return typeof value === "object" && value !== null ? value : {};
}

function toWebRequest(request: IncomingMessage, message: object, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (!CREDENTIALS.includes(name)) headers.set(name, String(value));
  }
  const url = new URL(MCP_PATH, "http://localhost");
  return new Request(url, { method: "POST", headers, body: JSON.stringify(message), signal });
}

/** Sends an answer on, piece by piece, as fast as the client takes it. */
async function send(
  answer: Response,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  try {
    await pipeline(Readable.fromWeb(answer.body), response, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
