import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { inTurn, NoReplicaError, ReplicaAgent } from "@workflow/service";
import type { ReplicaAddress } from "@workflow/service";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Plugin } from "http-proxy-middleware";

/** Where a gateway takes requests. */
export interface GatewayPlace extends ReplicaAddress {
  /** Where it says whether it is ready, without writing a line of its log about it. */
  readyzUrl: string;
}

export interface BalancerOptions {
  host: string;
  port: number;
  gateways: readonly GatewayPlace[];
  /** Whether callers are proxies whose X-Forwarded headers are to be kept. */
  isBehindProxies: boolean;
  /** How long a gateway may be silent on a request, in milliseconds (default 330,000). */
  silenceMaxMs?: number;
}

/** One port in front of several gateways. For one machine: production has a real load balancer there. */
export interface Balancer {
  /** The one that it listens on, also where 0 was asked for. */
  port: number;
  /** Takes no more connections; what is under way goes on. */
  stopAccepting(): void;
  /** Ends what is left. */
  close(): Promise<void>;
}

const LOOK_INTERVAL_MS = 500;
const LOOK_TIMEOUT_MS = 2_000;
/** Above the 300 s that the API lets a caller wait for a run; event streams beat every 15 s. */
const SILENCE_MAX_MS = 330_000;
/** Somewhat above what the gateways allow, so that it is they who judge. */
const REQUEST_TIMEOUT_MS = 150_000;
/** As above: a filter in a query string makes a request's head 186,000 bytes long. */
const HEAD_BYTES_MAX = 256 * 1024;
const KEEP_ALIVE_MS = 65_000;
const RETRY_AFTER_S = "1";
const FORWARDED = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"] as const;

/**
 * Hands requests on to the gateways in turn, those that are ready first. A request that found no
 * connection was not sent and goes to the next gateway; one that was sent is never sent again, and is
 * answered 503 when its gateway dies or is silent for too long. Half an answer is cut off.
 *
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
    // Last those that seem away: what is known of them may be half a second old.
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
    // The proxy passes on without an error what it takes for no path.
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

/** Asks a gateway again and again whether it is ready. */
async function watch(
  { readyzUrl }: GatewayPlace,
  tell: (isReady: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(LOOK_TIMEOUT_MS)]);
    const isReady = await fetch(readyzUrl, { signal: timeout }).then(
      async (response) => (await response.body?.cancel(), response.ok),
      () => false,
    );
    tell(isReady);
    await delay(LOOK_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

/** What plugins of this library are for: the events of its proxy. */
const cutBrokenAnswers: Plugin = (proxy) => {
  proxy.on("proxyRes", (answer, _request, response) => {
    // Between the balancer and a gateway each request has a connection of its own, before it has not.
    delete answer.headers.connection;
    answer.once("close", () => {
      if (!answer.complete) response.destroy();
    });
  });
  proxy.on("error", (error, _request, response) => {
    if (response !== undefined && "writeHead" in response) answerUnavailable(response, error);
  });
};

/** Says who has called, and how, as the gateways are told to expect of one proxy. */
function addForwarded(request: IncomingMessage, isBehindProxies: boolean): void {
  const { headers, socket } = request;
  // Of one connection only: what a caller says of its own holds for none of the others.
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
