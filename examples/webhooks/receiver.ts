import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { verifyWebhook, WebhookVerificationError } from "@workflow/client";
import type { WebhookPayload } from "@workflow/client";

/** What is delivered about a run. */
type RunDelivery = Extract<WebhookPayload, { runId: string }>;

/** A server that takes deliveries, on a free loopback port. */
export interface Receiver {
  url: string;
  /** From now on deliveries are verified with this secret; before, all are refused. */
  trust(secret: string): void;
  /** Waits for the delivery of a run's end. Rejects after a while. */
  deliveryOf(runId: string): Promise<RunDelivery>;
  close(): void;
}

const WITHIN_MS = 30_000;
const LOOK_MS = 50;

/** Starts the server; it stands for one of yours. */
export async function startReceiver(): Promise<Receiver> {
  /** By the event's id: a delivery that comes twice is one. */
  const deliveries = new Map<string, RunDelivery>();
  let secret: string | undefined;
  const take = async (request: IncomingMessage): Promise<number> => {
    if (secret === undefined) return 401;
    try {
      const delivery = await verifyWebhook(await buffer(request), request.headers, secret);
      if ("runId" in delivery) deliveries.set(delivery.id, delivery);
      return 204;
    } catch (error) {
      return error instanceof WebhookVerificationError ? 401 : 400;
    }
  };
  const server = createServer((request, response) => {
    void take(request).then((status) => response.writeHead(status).end());
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
