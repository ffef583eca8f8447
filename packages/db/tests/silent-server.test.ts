import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { databaseErrorToAppError, examineDatabase, openDatabase, sql } from "../src/index.ts";

const one = sql.type(z.object({ one: z.number() }))`select 1 as one`;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.close());

/** A way to the server that can be cut without a word: it takes everything, and hands nothing on. */
async function startLink() {
  const target = new URL(testDatabase.connectionUri);
  const folder = decodeURIComponent(target.hostname);
  const place = folder.startsWith("/")
    ? { path: `${folder}/.s.PGSQL.${target.port || "5432"}` }
    : { host: folder, port: Number(target.port || "5432") };
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    const upstream = connect(place);
    for (const [end, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(end);
      end.on("error", () => {});
      end.on("data", (chunk: Buffer) => void (isCut || other.write(chunk)));
      end.once("close", () => void (isCut || other.destroy()));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(testDatabase.connectionUri);
  url.hostname = "127.0.0.1";
  url.port = String(typeof address === "object" ? address?.port : 0);
  return {
    url: url.toString(),
    cut: (value: boolean) => void (isCut = value),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Limits of links are real ones, and pass one after the other. */
jest.setTimeout(120_000);

describe("a server that falls silent without closing its connections", () => {
  it("fails queries as UNAVAILABLE, rollbacks included, and is used again once it answers", async () => {
    const link = await startLink();
    const database = await openDatabase({
      connectionUri: link.url,
      applicationName: "test",
      statementTimeoutMs: 100,
      maxConnections: 1,
    });
    try {
      expect(await database.oneFirst(one)).toBe(1);
      const failed = database
        .transaction(async (transaction) => {
          await transaction.oneFirst(one);
          link.cut(true);
          return transaction.oneFirst(one);
        })
        .catch(databaseErrorToAppError);
      expect(await failed).toMatchObject({ reason: "UNAVAILABLE" });
      link.cut(false);

      expect(await database.oneFirst(one)).toBe(1);
    } finally {
      await link.close();
      await database.end();
    }
  });

  it("is given up by who connects, first or later, as UNAVAILABLE", async () => {
    const link = await startLink();
    const options = {
      connectionUri: link.url,
      applicationName: "test",
      maxConnections: 2,
      idleInTransactionTimeoutMs: 120_000,
    };
    const database = await openDatabase(options);
    try {
      const second = await database.transaction(async (transaction) => {
        await transaction.oneFirst(one);
        link.cut(true);
        const refused = await database.oneFirst(one).catch(databaseErrorToAppError);
        link.cut(false);
        return refused;
      });
      expect(second).toMatchObject({ reason: "UNAVAILABLE" });
      link.cut(true);
      await expect(openDatabase(options)).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    } finally {
      await link.close();
      await database.end();
    }
  });

  it("is told of by readiness, which does not wait for it", async () => {
    const link = await startLink();
    try {
      link.cut(true);
      const needed = {
        connectionUri: link.url,
        role: "workflow_runs",
        schema: "runs",
        migration: 1,
      };
      expect(await examineDatabase(needed)).toMatchObject({
        message: expect.stringContaining("cannot be reached"),
      });
    } finally {
      await link.close();
    }
  });
});
