import { createServer } from "node:http";
import type { Server } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { CounterConfiguration, GaugeConfiguration, HistogramConfiguration } from "prom-client";
import type { Readiness } from "./readiness.ts";

/** A running server of `/metrics` and of the process's state. */
export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/** A registry with the process's own metrics: memory, event loop lag, garbage collection. */
export function createMetricsRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Serves a registry at `/metrics` and, with a readiness, `/livez` and `/readyz`, to everybody who can
 * reach the address. Undefined for port 0, which disables the server. Rejects when the port is in use.
 */
export async function startMetricsServer(
  { host, port }: { host: string; port: number },
  registry: Registry,
  readiness?: Readiness,
): Promise<MetricsServer | undefined> {
  if (port === 0) return undefined;
  const pages = new Map<string, () => Promise<Page>>([
    [
      "/metrics",
      async () => ({ status: 200, type: registry.contentType, text: await registry.metrics() }),
    ],
  ]);
  if (readiness !== undefined) {
    pages.set("/livez", async () => jsonPage(200, { status: "alive" }));
    pages.set("/readyz", () => readinessPage(readiness));
  }
  const server = createServer((request, response) => {
    const page = pages.get(request.url?.split("?")[0] ?? "");
    if (request.method !== "GET" || page === undefined) {
      response.writeHead(404).end();
      return;
    }
    page().then(
      ({ status, type, text }) => response.writeHead(status, { "content-type": type }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listen(server, port, host);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Page {
  status: number;
  type: string;
  text: string;
}

async function readinessPage(readiness: Readiness): Promise<Page> {
  const report = await readiness.report();
  const isReady = report.missing.length === 0;
  const status = isReady ? "ready" : "not ready";
  return jsonPage(isReady ? 200 : 503, { status, ...report, details: readiness.details });
}

function jsonPage(status: number, body: object): Page {
  return { status, type: "application/json", text: `${JSON.stringify(body)}\n` };
}

/**
 * Measures gRPC requests; the result is the request hook of an RPC server. Services of one process may
 * share a registry.
 */
export function rpcRequestMetrics(
  registry: Registry,
): (outcome: { rpc: string; code: string; durationMs: number }) => void {
  const histogram = histogramIn(registry, {
    name: "rpc_request_duration_seconds",
    help: "Time that gRPC requests took, by method and status code.",
    labelNames: ["rpc", "code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  return ({ rpc, code, durationMs }) => histogram.observe({ rpc, code }, durationMs / 1000);
}

/** A counter of a registry, created when it is missing. Services of one process share it. */
export function counterIn<Label extends string>(
  registry: Registry,
  configuration: CounterConfiguration<Label>,
): Counter<Label> {
  const known = registry.getSingleMetric(configuration.name);
  if (known instanceof Counter) return known;
  return new Counter({ ...configuration, registers: [registry] });
}

/** A gauge of a registry, created when it is missing. Services of one process share it. */
export function gaugeIn<Label extends string>(
  registry: Registry,
  configuration: GaugeConfiguration<Label>,
): Gauge<Label> {
  const known = registry.getSingleMetric(configuration.name);
  if (known instanceof Gauge) return known;
  return new Gauge({ ...configuration, registers: [registry] });
}

/** A histogram of a registry, created when it is missing. Services of one process share it. */
export function histogramIn<Label extends string>(
  registry: Registry,
  configuration: HistogramConfiguration<Label>,
): Histogram<Label> {
  const known = registry.getSingleMetric(configuration.name);
  if (known instanceof Histogram) return known;
  return new Histogram({ ...configuration, registers: [registry] });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
