import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { isOurs } from "./is-ours.ts";

/** The fields of a delivery that the example looks at. */
export interface Delivery {
  id: string;
  type: string;
  runId: string;
  output: unknown;
}

/** A server that takes deliveries, on a free loopback port. */
export interface Receiver {
  url: string;
  /** From now on deliveries are verified with this secret; before, all are refused. */
  trust(secret: string): void;
  /** Waits for the delivery of a run's end. Rejects after a while. */
  deliveryOf(runId: string): Promise<Delivery>;
  close(): void;
}

const WITHIN_MS = 30_000;
const LOOK_MS = 50;

/** Starts the server; it stands for one of yours. */
export async function startReceiver(): Promise<Receiver> {
  /** By the event's id: a delivery that comes twice is one. */
  const deliveries = new Map<string, Delivery>();
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const signature = String(request.headers["x-webhook-signature"] ?? "");
      if (secret === undefined || !isOurs(body, signature, secret)) {
        response.writeHead(401).end();
        return;
      }
      const delivery: Delivery = JSON.parse(body.toString());
      deliveries.set(delivery.id, delivery);
      response.writeHead(204).end();
    });
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/deliveries`,
    trust: (endpointSecret) => (secret = endpointSecret),
    async deliveryOf(runId) {
      for (const deadline = Date.now() + WITHIN_MS; Date.now() < deadline;) {
        const found = [...deliveries.values()].find((delivery) => delivery.runId === runId);
        if (found !== undefined) return found;
        await new Promise((wake) => setTimeout(wake, LOOK_MS));
      }
      throw new Error(`No delivery of ${runId} has come within ${WITHIN_MS / 1_000} s.`);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
