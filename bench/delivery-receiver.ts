import { createServer } from "node:http";
import { deliveryOrder } from "./delivery-protocol.ts";
import type { Arrivals, DeliveryOrder } from "./delivery-protocol.ts";
import { percentile } from "./statistics.ts";

/**
 * The host of deliveries: a process of its own that ends with its parent. The first part of a path is the group
 * whose deliveries are counted together and answered alike.
 */

/** Deliveries of one group. */
interface Group {
  status: number;
  afterMs: number;
  /** The time of each arrival, by the clock that has written the bodies. */
  arrivals: number[];
  /** Times from the end of the run in a body to the first byte here. */
  latenciesMs: number[];
}

const POLL_MS = 10;
const groups = new Map<string, Group>();

process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  void obey(deliveryOrder.parse(message));
});

const server = createServer((request, response) => {
  const arrivedAt = Date.now();
  const group = groupOf((request.url ?? "").split("/")[1] ?? "");
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => {
    if (group.status < 300) {
      group.arrivals.push(arrivedAt);
      // No other text in a body of the benchmark's runs looks like this one, and parsing costs more than counting.
      const [, endedAt] = /"completedAt":"([^"]+)"/.exec(Buffer.concat(chunks).toString()) ?? [];
      if (endedAt !== undefined) group.latenciesMs.push(arrivedAt - Date.parse(endedAt));
    }
    const { status, afterMs } = group;
    if (afterMs === 0) response.writeHead(status).end();
    else setTimeout(() => response.writeHead(status).end(), afterMs);
  });
});
// A measurement may pause for this time.
server.keepAliveTimeout = 60_000;

async function obey(order: DeliveryOrder): Promise<void> {
  if (order.kind === "listen") {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) {
        process.send?.({ url: `http://127.0.0.1:${address.port}` });
      }
    });
    return;
  }
  const group = groupOf(order.group);
  if (order.kind === "answer") {
    Object.assign(group, { status: order.status, afterMs: order.afterMs });
    process.send?.({ done: true });
    return;
  }
  const deadline = Date.now() + order.withinMs;
  while (group.arrivals.length < order.count && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  process.send?.(summarize(group));
  group.arrivals.length = 0;
  group.latenciesMs.length = 0;
}

function groupOf(name: string): Group {
  const known = groups.get(name) ?? { status: 200, afterMs: 0, arrivals: [], latenciesMs: [] };
  groups.set(name, known);
  return known;
}

function summarize({ arrivals, latenciesMs }: Group): Arrivals {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const seconds = ((arrivals.at(-1) ?? Number.NaN) - (arrivals[0] ?? Number.NaN)) / 1_000;
  return {
    count: arrivals.length,
    perSecond: arrivals.length / seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}
