import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { AppError } from "@workflow/errors";
import type { RpcCallOptions } from "@workflow/rpc";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { KnownCaller } from "../auth/caller.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { answerOptions, wrongMethod } from "../http/methods.ts";
import { hasOwnOrigin } from "../http/own-origin.ts";
import { createContext } from "../http/pipeline.ts";
import type { PipelineDependencies } from "../http/pipeline.ts";
import { readBody } from "../http/read-body.ts";
import { requestInfoOf } from "../http/request-info.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { createMcpServer } from "./create-mcp-server.ts";
import { toMcpMessage } from "./mcp-message.ts";
import type { McpMessage } from "./mcp-message.ts";

/** The path for AI clients. */
export const MCP_PATH = "/mcp";

const METHODS = ["POST"] as const;
/** The size of a request: the input of a run, 1 MiB (D4), and the envelope that MCP adds. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Most MCP clients send a key as a bearer token; `x-api-key` works as well. */
const BEARER = /^Bearer +(\S+)$/i;
const NO_KEY = "An API key is required, as Authorization: Bearer <key> or in the x-api-key header.";
/** The headers that the protocol server does not get. */
const CREDENTIALS = ["authorization", "cookie", "x-api-key"];
/** The protocol's headers that go out; the gateway sets those of caching and connections. */
const ANSWER_HEADERS = ["content-type", "mcp-protocol-version"];
/** The methods that logs and metrics name; others from clients are grouped. */
const KNOWN_METHODS = [
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/templates/list",
];

export interface McpOptions extends PipelineDependencies {
  logger: Logger;
}

/**
 * Serves the Model Context Protocol over streamable HTTP without sessions: each request is
 * complete, so any gateway can answer it. The API key decides whose tools are served. A tool call
 * counts in the key's bucket `execute`, every other request in `read` (D9).
 */
export function serveMcp(options: McpOptions): RequestHandler {
  return async (request, response) => {
    const info = requestInfoOf(request);
    info.route = MCP_PATH;
    if (request.method === "OPTIONS") return answerOptions(response, METHODS);
    // The server sends nothing unasked, so GET opens no stream.
    if (request.method !== "POST") throw wrongMethod(response, METHODS);
    refuseForeignPage(request, response, info);
    const caller = await authenticate(options, request, response);
    const { identity } = caller;
    info.companyId = identity.companyId;
    options.connections.claim(response, identity.companyId);
    const message = await admitMessage(options, caller, request, response);
    const isCall = message.method === "tools/call";
    if (KNOWN_METHODS.includes(message.method)) info.route = `${MCP_PATH} ${message.method}`;
    const exchange = new AbortController();
    response.once("close", () => exchange.abort());
    const { signal } = exchange;
    const { requestId, client, traceparent } = info;
    const call: RpcCallOptions = {
      identity,
      requestId,
      client,
      ...(traceparent === undefined ? {} : { traceparent }),
      // A run goes on when its client leaves.
      ...(isCall ? {} : { signal }),
    };
    const context = createContext(options, caller, { request, info, call });
    const exchangeOfMessage = {
      context,
      message,
      onFailure: (error: AppError) => (info.error = error),
    };
    const onerror = (err: Error): void =>
      options.logger.debug({ err, requestId }, "an MCP request failed");
    const handler = createMcpHandler(() => createMcpServer(exchangeOfMessage), { onerror });
    try {
      const given = toWebRequest(request, message.value, signal);
      await send(await handler.fetch(given, { parsedBody: message.value }), response, signal);
    } finally {
      await handler.close();
    }
  };
}

/** Cookies are not read here, so pages of the allowed origins are treated like programs. */
function refuseForeignPage(
  request: IncomingMessage,
  response: ServerResponse,
  info: RequestInfo,
): void {
  const { origin } = request.headers;
  if (origin === undefined || hasOwnOrigin(request, info)) return;
  if (response.hasHeader("Access-Control-Allow-Origin")) return;
  throw new AppError("FORBIDDEN", "Pages of this origin may not call the API.");
}

async function authenticate(
  { authenticator }: McpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<KnownCaller> {
  response.setHeader("WWW-Authenticate", "Bearer");
  const apiKey = keyOf(request);
  if (apiKey === undefined) throw new AppError("UNAUTHORIZED", NO_KEY);
  const caller = await authenticator.authenticate({ apiKey, sessionToken: undefined });
  response.removeHeader("WWW-Authenticate");
  return caller;
}

/** The key comes from either header; sessions are for people. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const given = headers["x-api-key"];
  if (given !== undefined) return Array.isArray(given) ? given.join(",") : given;
  return headers.authorization?.match(BEARER)?.[1];
}

/** Reads and counts a message; one that cannot be parsed counts as a read. */
async function admitMessage(
  { rateLimits }: McpOptions,
  caller: KnownCaller,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<McpMessage> {
  let message: McpMessage;
  try {
    message = await readMessage(request);
  } catch (error) {
    await rateLimits.admit(caller, "read", response);
    throw error;
  }
  const bucket = message.method === "tools/call" ? "execute" : "read";
  await rateLimits.admit(caller, bucket, response);
  return message;
}

/**
 * Parses one JSON-RPC message, an object. Batches are refused: one request would make many calls.
 */
async function readMessage(request: IncomingMessage): Promise<McpMessage> {
  const bytes = await readBody(request, BODY_BYTES_MAX);
  if (bytes === null) throw new AppError("BAD_REQUEST", "A JSON-RPC message is required.");
  return toMcpMessage(parseJsonBody(bytes, request.headers));
}

function toWebRequest(request: IncomingMessage, message: object, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (!CREDENTIALS.includes(name)) headers.set(name, String(value));
  }
  const url = new URL(MCP_PATH, "http://localhost");
  return new Request(url, { method: "POST", headers, body: JSON.stringify(message), signal });
}

/** Sends an answer piece by piece, as fast as the client reads it. */
async function send(
  answer: Response,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const headers = [...answer.headers].filter(([name]) => ANSWER_HEADERS.includes(name));
  response.writeHead(answer.status, Object.fromEntries(headers));
  if (answer.body === null) return void response.end();
  try {
    await pipeline(Readable.fromWeb(answer.body), response, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
