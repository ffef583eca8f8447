import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent } from "node:http";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Pool } from "pg";
import { bareExpress, runFloor } from "./floor.ts";

/**
 * The floor under inbound webhooks: bare Express hands the request on to another HTTP server of the process, which
 * commits one insert of the body durably.
 */
runFloor(
  "create table if not exists bench.inputs (id uuid primary key, body json not null)",
  async ({ database }) => {
    const app = bareExpress();
    app.use(
      createProxyMiddleware({
        target: await listenBehind(database),
        agent: new Agent({ keepAlive: true }),
      }),
    );
    return app;
  },
);

async function listenBehind(database: Pool): Promise<string> {
  const server = createServer((request, response) => {
    insert(database, request).then(
      (id) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ received: true, eventId: id }));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) {
        resolve(`http://127.0.0.1:${address.port}`);
      }
    });
  });
}

async function insert(database: Pool, request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const id = randomUUID();
  await database.query({
    name: "insert-input",
    text: "insert into bench.inputs (id, body) values ($1, $2)",
    values: [id, Buffer.concat(chunks).toString()],
  });
  return id;
}
