import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { inTurn, NoReplicaError, ReplicaAgent } from "@workflow/service";
import type { ReplicaAddress } from "@workflow/service";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Plugin } from "http-proxy-middleware";

/** The addresses of a gateway. */
export interface GatewayPlace extends ReplicaAddress {
  /** The address that tells readiness without a line in the log. */
  readyzUrl: string;
}

export interface BalancerOptions {
  host: string;
  port: number;
  gateways: readonly GatewayPlace[];
  /** Whether callers are proxies, whose X-Forwarded headers are kept. */
  isBehindProxies: boolean;
  /** How long a gateway may be silent on a request, in milliseconds. Default 330,000. */
  silenceMaxMs?: number;
}

/**
 * One port in front of several gateways, on one machine. In production a real load balancer takes its place.
 */
export interface Balancer {
  /** The port that it listens on, even when 0 was asked for. */
  port: number;
  /** Accepts no more connections. Requests under way continue. */
  stopAccepting(): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

const POLL_INTERVAL_MS = 500;
const POLL_TIMEOUT_MS = 2_000;
/**
 * Longer than the 300 s that a caller may wait for a run. Event streams send a heartbeat every 15 s.
 */
const SILENCE_MAX_MS = 330_000;
/** Somewhat longer than the gateways' own limit, so that the gateways decide. */
const REQUEST_TIMEOUT_MS = 150_000;
/** As above: a filter in a query string makes a request's head 186,000 bytes long. */
const HEAD_BYTES_MAX = 256 * 1024;
const KEEP_ALIVE_MS = 65_000;
const RETRY_AFTER_S = "1";
const FORWARDED = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"] as const;

/**
 * Passes requests to the gateways in turn, ready ones first. A request without a connection was not sent and goes
 * to the next gateway. A sent request is never repeated: it is answered 503 when its gateway dies or is silent too
 * long. A half answer is cut off.
 * @throws the system's error when the port cannot be listened on
 */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const stopping = new AbortController();
  const isReady = new Map(options.gateways.map((gateway) => [gateway, false]));
  const watching = options.gateways.map((gateway) =>
    watch(gateway, (ready) => isReady.set(gateway, ready), stopping.signal),
  );
  const turns = inTurn(options.gateways);
  const agent = new ReplicaAgent({
    // Gateways that seem away come last, because that knowledge may be half a second old.
    order: () => turns().toSorted((a, b) => Number(isReady.get(b)) - Number(isReady.get(a))),
  });
  const proxy = createProxyMiddleware({
    target: "http://gateway",
    agent,
    proxyTimeout: options.silenceMaxMs ?? SILENCE_MAX_MS,
    ejectPlugins: true,
    plugins: [cutBrokenAnswers],
  });
  const server = createServer({ maxHeaderSize: HEAD_BYTES_MAX }, (request, response) => {
    addForwarded(request, options.isBehindProxies);
    // Without an error, the proxy passes on requests whose path it does not accept.
    const fail = (error?: unknown): void =>
      error === undefined ? answerBadTarget(response) : answerUnavailable(response, error);
    proxy(request, response, fail).catch(fail);
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  const stopAccepting = (): void => {
    if (server.listening) server.close();
    server.closeIdleConnections();
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    stopAccepting,
    async close() {
      stopAccepting();
      stopping.abort();
      server.closeAllConnections();
      agent.destroy();
      await Promise.all([closed, ...watching]);
    },
  };
}

/** Polls a gateway's readiness. */
async function watch(
  { readyzUrl }: GatewayPlace,
  tell: (isReady: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]);
    const isReady = await fetch(readyzUrl, { signal: timeout }).then(
      async (response) => (await response.body?.cancel(), response.ok),
      () => false,
    );
    tell(isReady);
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

/** A plugin of the proxy library, for its proxy's events. */
const cutBrokenAnswers: Plugin = (proxy) => {
  proxy.on("proxyRes", (answer, _request, response) => {
    // The caller's connection is independent of the one to the gateway.
    delete answer.headers.connection;
    answer.once("close", () => {
      if (!answer.complete) response.destroy();
    });
  });
  proxy.on("error", (error, _request, response) => {
    if (response !== undefined && "writeHead" in response) answerUnavailable(response, error);
  });
};

/** Adds the caller's address and protocol, as gateways expect it of one proxy. */
function addForwarded(request: IncomingMessage, isBehindProxies: boolean): void {
  const { headers, socket } = request;
  // This header concerns one connection, so it is not passed on as it is.
  headers.connection = /\bclose\b/i.test(headers.connection ?? "") ? "close" : "keep-alive";
  const seen = [socket.remoteAddress ?? "", "http", headers.host ?? ""];
  for (const [index, name] of FORWARDED.entries()) {
    const before = isBehindProxies ? headers[name] : undefined;
    headers[name] = [before, seen[index]].filter((entry) => entry !== undefined).join(", ");
  }
}

function answerUnavailable(response: ServerResponse, error: unknown): void {
  const message =
    error instanceof NoReplicaError
      ? "No gateway takes requests at the moment. This one was not sent; try again."
      : "The gateway broke off. Whether the request had an effect is not known.";
  if (!response.headersSent) response.setHeader("retry-after", RETRY_AFTER_S);
  answerError(response, 503, { code: "UNAVAILABLE", message });
}

function answerBadTarget(response: ServerResponse): void {
  const message = "The target of the request is no path.";
  answerError(response, 400, { code: "BAD_REQUEST", message });
}

function answerError(
  response: ServerResponse,
  status: number,
  problem: { code: string; message: string },
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const requestId = randomUUID();
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "x-request-id": requestId,
  });
  response.end(JSON.stringify({ success: false, error: { ...problem, requestId } }));
}
