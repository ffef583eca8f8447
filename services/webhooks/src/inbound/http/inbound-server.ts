import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Turns } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { databaseErrorToAppError, newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { createHttpsServer } from "@workflow/rpc";
import type { HttpTls } from "@workflow/rpc";
import { readTraceparent } from "@workflow/tracing";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { InboundAnswer, InboundRequest, InboundRoute } from "../inbound-request.ts";
import { expectedBytes, readBody } from "./read-body.ts";
import { errorHeaders, toErrorAnswer, writeAnswer } from "./write-answer.ts";

const ROOT = "/webhooks/";
/** The time for acquiring room and reading the body. A body of 1 MiB takes 8 s at 1 Mbit/s. */
const BODY_TIMEOUT_MS = 12_000;
/** Longer than a request waits for its runs. */
const CLOSE_TIMEOUT_MS = 12_000;
/** The limit of bytes in bodies that are being read, or whose events are being stored and started. */
const BODY_BYTES_IN_ALL = 128 * 1024 * 1024;
const BODY_BYTES_PER_SENDER = 32 * 1024 * 1024;
/** The memory of a request besides its body. */
const REQUEST_BYTES = 16 * 1024;
const NAME_CHARS_SHOWN = 64;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

interface InboundServerOptions {
  /** `host:port`, port 0 for a free one. */
  address: string;
  /** The time for which connections are accepted after the scope began to close, in milliseconds. */
  stopDelayMs: number;
  tls: HttpTls | undefined;
  routes: ReadonlyMap<string, InboundRoute>;
  tracer?: Tracer | undefined;
  logger: Logger;
}

/**
 * Serves the routes of inbound webhooks until the scope closes. Current requests are answered first.
 *
 * @returns the address that it listens on
 * @throws Error when the address is taken
 */
export async function startInboundServer(
  { address, stopDelayMs, tls, routes, tracer, logger }: InboundServerOptions,
  scope: Scope,
): Promise<string> {
  const room = new Turns({ perTenant: BODY_BYTES_PER_SENDER, total: BODY_BYTES_IN_ALL });
  const times = { keepAliveTimeout: 65_000, requestTimeout: 30_000 };
  const server = tls === undefined ? createServer(times) : createHttpsServer(tls, times);
  let isLeaving = false;
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (isLeaving) response.shouldKeepAlive = false;
    void serve(request, response, { routes, room, tracer, logger });
  });
  server.on("clientError", refuseBroken);
  // Over TLS the other event reports sockets that carry no request themselves.
  const connections = followConnections(
    server,
    tls === undefined ? "connection" : "secureConnection",
  );
  const [host, port] = splitAddress(address);
  server.listen(port, host);
  await once(server, "listening");
  scope.defer(async () => {
    // The next answers tell the gateways to use another replica, before any connection is cut.
    isLeaving = true;
    await delay(stopDelayMs);
    await close(server, connections);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server has no port.");
  return `${host}:${bound.port}`;
}

/** The parts that all requests share. */
interface ServingParts extends Pick<InboundServerOptions, "routes" | "tracer" | "logger"> {
  room: Turns;
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  { routes, room, tracer, logger }: ServingParts,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = requestIdOf(incoming);
  const [target, query] = splitOnce(incoming.url ?? "", "?");
  // As on the routes of the API: people add this slash to the address that they give to a sender.
  const path = target.endsWith("/") ? target.slice(0, -1) : target;
  const [name = ""] = path.startsWith(ROOT) ? path.slice(ROOT.length).split("/", 1) : [];
  const span = tracer?.span("inbound webhook", readTraceparent(incoming.headers["traceparent"]), {
    kind: "server",
    attributes: { "workflow.request.id": requestId },
  });
  const log = (status: number, error?: unknown): void => {
    // The path is not logged, because that of the custom route is a secret.
    const known = routes.has(name) ? name : "unknown";
    span?.set({ "http.route": known, "http.response.status_code": status });
    span?.end(status >= 500 ? String(status) : undefined);
    const trace = span === undefined ? {} : { trace_id: span.traceId };
    const durationMs = performance.now() - startedAt;
    const line = { route: known, status, requestId, ...trace, durationMs };
    if (status >= 500) logger.error({ ...line, err: error }, "an inbound webhook was not taken");
    else logger.info(line, "inbound webhook");
  };
  try {
    const route = findRoute(routes, path, name, incoming.method ?? "");
    const answer = await answerWithin(incoming, room, senderOf(incoming), (rawBody) =>
      route(
        toRequest(incoming, { path, query, rawBody, requestId, traceparent: span?.traceparent }),
      ),
    );
    writeAnswer(response, answer);
    log(answer.status);
  } catch (thrown) {
    const error = databaseErrorToAppError(thrown);
    const answer = toErrorAnswer(error);
    log(answer.status, thrown);
    if (response.destroyed) return;
    writeAnswer(response, answer, errorHeaders(error), !incoming.complete);
  }
}

/** Reads the body when there is room for it, and holds the room until the request is answered. */
async function answerWithin(
  incoming: IncomingMessage,
  room: Turns,
  sender: string,
  answer: (rawBody: Buffer) => Promise<InboundAnswer>,
): Promise<InboundAnswer> {
  const controller = new AbortController();
  let isReading = false;
  const timer = setTimeout(() => {
    controller.abort(isReading ? tooSlow() : tooBusy());
  }, BODY_TIMEOUT_MS);
  let giveBack: (() => void) | undefined;
  try {
    giveBack = await room.take(sender, controller.signal, expectedBytes(incoming) + REQUEST_BYTES);
    isReading = true;
    const rawBody = await readBody(incoming, controller.signal);
    clearTimeout(timer);
    return await answer(rawBody);
  } finally {
    clearTimeout(timer);
    giveBack?.();
  }
}

function findRoute(
  routes: ReadonlyMap<string, InboundRoute>,
  path: string,
  name: string,
  method: string,
): InboundRoute {
  if (name === "") throw new AppError("NOT_FOUND", "Not found");
  const route = routes.get(name);
  const isWhole = path === ROOT + name || name === "custom";
  if (route === undefined || !isWhole) {
    throw new AppError("NOT_FOUND", `Unknown provider: ${shown(path.slice(ROOT.length))}`);
  }
  if (method !== "POST") throw new AppError("METHOD_NOT_ALLOWED", "Only POST is allowed.");
  return route;
}

function toRequest(
  incoming: IncomingMessage,
  parts: {
    path: string;
    query: string;
    rawBody: Buffer;
    requestId: string;
    traceparent: string | undefined;
  },
): InboundRequest {
  const { headers } = incoming;
  const scheme = headers["x-forwarded-proto"] ?? "http";
  const host = headers["x-forwarded-host"] ?? headers.host ?? "";
  return {
    path: parts.path.slice(ROOT.length),
    query: new URLSearchParams(parts.query),
    url: `${String(scheme)}://${String(host)}${incoming.url ?? ""}`,
    headers: headersOf(incoming),
    rawBody: parts.rawBody,
    requestId: parts.requestId,
    traceparent: parts.traceparent,
    receivedAt: new Date(),
  };
}

/** Reads the raw headers, since Node drops repeats of some. */
function headersOf({ rawHeaders }: IncomingMessage): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let place = 0; place + 1 < rawHeaders.length; place += 2) {
    const name = (rawHeaders[place] ?? "").toLowerCase();
    const value = rawHeaders[place + 1] ?? "";
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  return headers;
}

/**
 * The tenant of the room: the senders of one address. Otherwise a stalled sender would block all others
 * on its route.
 */
function senderOf({ headers, socket }: IncomingMessage): string {
  const address = headers["x-forwarded-for"] ?? socket.remoteAddress ?? "";
  const text = String(address);
  // A sender with one IPv6 address has its whole /64 network.
  return text.includes(":") ? text.split(":", 4).join(":") : text;
}

/** The request id; a new one when the gateway sent none, as in tests. */
function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : newUuid();
}

function shown(name: string): string {
  let text = name;
  try {
    text = decodeURIComponent(name);
  } catch {
    // A URL that cannot be parsed is shown as it was sent.
  }
  return text.slice(0, NAME_CHARS_SHOWN);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function splitAddress(address: string): [string, number] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
}

/** Refuses a request that is not HTTP, or whose head is too large or too slow. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const [status, message] = isTooLarge
    ? ["431 Request Header Fields Too Large", "The headers are too large."]
    : ["400 Bad Request", "The request is not valid HTTP."];
  const text = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
  );
}

/** The open connections, each with the number of its current requests. */
type Connections = ReadonlyMap<Socket, { requests: number; isLast: boolean }>;

function followConnections(server: Server, event: "connection" | "secureConnection"): Connections {
  const connections = new Map<Socket, { requests: number; isLast: boolean }>();
  server.on(event, (socket: Socket) => {
    connections.set(socket, { requests: 0, isLast: false });
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    response.once("close", () => {
      connection.requests -= 1;
      if (connection.isLast && connection.requests === 0) socket.destroySoon();
    });
  });
  return connections;
}

/** Closes the server without waiting for connections that have no request, or only a part of a head. */
async function close(server: Server, connections: Connections): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const [socket, connection] of connections) {
    if (connection.requests === 0) socket.destroy();
    else connection.isLast = true;
  }
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}

function tooSlow(): AppError {
  return new AppError("UNAVAILABLE", "The request body did not come in time.");
}

function tooBusy(): AppError {
  return new AppError("UNAVAILABLE", "Too many webhooks are under way; try again.");
}
