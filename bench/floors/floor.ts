import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import express from "express";
import type { Express } from "express";
import { Pool } from "pg";
import type { PoolClient } from "pg";
import { z } from "zod";

/** The first message for a floor's process. */
const floorStart = z.object({
  databaseUrl: z.string(),
  /** JSON text: the document that is read or written, or its size. */
  document: z.string(),
});

/** The answer of the process: its id and its address. */
export const floorReady = z.object({ pid: z.number(), url: z.url() });

/** A floor that listens; the URL has no slash at its end. */
export type Floor = z.infer<typeof floorReady>;

/** The number of connections that a service of the system has by default. */
const CONNECTIONS = 10;
const SCHEMA = "create schema if not exists bench";

/** The tools of a floor. */
export interface FloorSurroundings {
  database: Pool;
  document: string;
}

/**
 * Runs a floor's process: it learns from its parent what to serve, prepares its table, listens on a free loopback
 * port, and ends with the parent.
 */
export function runFloor(
  createTable: string,
  create: (surroundings: FloorSurroundings) => Promise<RequestListener>,
): void {
  process.once("disconnect", () => process.exit());
  process.once("message", (message) => {
    void start(floorStart.parse(message));
  });

  async function start({ databaseUrl, document }: z.infer<typeof floorStart>): Promise<void> {
    const database = new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
    const client = await database.connect();
    await prepare(client, createTable).finally(() => client.release());
    const port = await listen(await create({ database, document }));
    process.send?.({ pid: process.pid, url: `http://127.0.0.1:${port}` });
  }
}

/** Express without the features that the system switches off as well. */
export function bareExpress(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  return app;
}

async function prepare(client: PoolClient, createTable: string): Promise<void> {
  // Two floors may start at once, and `if not exists` alone does not prevent a race.
  await client.query("begin");
  await client.query("select pg_advisory_xact_lock(1)");
  await client.query(SCHEMA);
  await client.query(createTable);
  await client.query("commit");
}

function listen(listener: RequestListener): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer(listener);
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
    });
  });
}
