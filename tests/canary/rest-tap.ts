import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Evidence } from "./evidence.ts";
import { learnShown } from "./shown-by-contract.ts";

/** Longer than a tour. */
const KEEP_ALIVE_MS = 900_000;

/** Stands between all clients and the gateway, and keeps every answer. */
export interface RestTap {
  /** For clients: `http://127.0.0.1:<port>`. */
  origin: string;
  /** Requests that were answered, as `GET /api/v1/workflows 200`. */
  answered: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts it. Requests without an id get one that holds `control`, which then is in answers, logs and events
 * alike, and are given on as they are otherwise.
 *
 * @param gatewayPort looked up at each request, as the system may be started again elsewhere
 */
export async function startRestTap(
  evidence: Evidence,
  control: string,
  gatewayPort: () => number,
): Promise<RestTap> {
  const answered: string[] = [];
  let requests = 0;
  // Answers repeat the gateway's Keep-Alive header: what is closed earlier breaks a client's next request.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    requests += 1;
    const headers = { "x-request-id": `${control}-${requests}`, ...incoming.headers };
    const { method = "", url = "" } = incoming;
    const upstream = sendRequest({
      // A connection for each request: one that was kept may be of a system that has been stopped.
      agent: false,
      host: "127.0.0.1",
      port: gatewayPort(),
      method,
      path: url,
      headers,
    });
    upstream.on("response", (response) => {
      keep(response, outgoing, (body) => {
        const title = `${method} ${url.split("?")[0]} ${response.statusCode}`;
        const head = response.rawHeaders.join("\n");
        const isLive = response.headers["content-type"] === "text/event-stream";
        const place = isLive ? "live events" : "REST answers";
        const content = `${head}\n\n${body.toString("latin1")}`;
        learnShown(evidence, `${place}: ${title}`, content);
        evidence.add(place, title, Buffer.from(content, "latin1"));
        answered.push(title);
      }).catch(() => outgoing.destroy());
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    answered,
    async close() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

/** Hands an answer on while it comes, and then in one piece; of one that breaks off, what there was. */
async function keep(
  response: IncomingMessage,
  outgoing: ServerResponse,
  done: (body: Buffer) => void,
): Promise<void> {
  outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
  outgoing.flushHeaders();
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => void chunks.push(chunk));
  response.pipe(outgoing);
  await once(response, "close");
  done(Buffer.concat(chunks));
}
