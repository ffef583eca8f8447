import { randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import { ConnectionStatus } from "@workflow/proto/integrations/v1/connections";
import { rotateKek } from "@workflow/sealing";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { errorOf } from "./support/harness.ts";
import { asCaller, useConnections } from "./support/connections-bench.ts";

const bench = useConnections();

describe("what opens an account", () => {
  it("is seen changed by every replica, whoever changes it", async () => {
    const connectionId = await bench.connectRillet("key-1");
    expect(await bench.keySeenByAction(connectionId)).toBe("Bearer key-1");
    const request = { provider: "rillet", connectionId, name: "", apiKey: "key-2", fields: {} };
    await bench.replicas.other.connectApiKey(request, { identity: asCaller });
    const seen = async () => (await bench.keySeenByAction(connectionId)) === "Bearer key-2";
    await waitFor(seen);
  });

  it("is seen changed also when nobody hears of changes", async () => {
    const connectionId = await bench.connectRillet("key-3");
    await bench.keySeenByAction(connectionId);
    await bench.harness.database.query(sql.type(z.object({}))`
      alter table integrations.connections disable trigger user
    `);
    try {
      const request = { provider: "rillet", connectionId, name: "", apiKey: "key-4", fields: {} };
      await bench.replicas.other.connectApiKey(request, { identity: asCaller });
      const seen = async () => (await bench.keySeenByAction(connectionId)) === "Bearer key-4";
      await waitFor(seen);
    } finally {
      await bench.harness.database.query(sql.type(z.object({}))`
        alter table integrations.connections enable trigger user
      `);
    }
  });

  it("is a token of one login for all who need it, at once and later", async () => {
    let logins = 0;
    bench.handler = ({ path }) => {
      if (!path.endsWith("/login")) return { body: [] };
      logins += 1;
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      return { status: 201, body: { token: `token-${logins}`, expires_at } };
    };
    const connectionId = await bench.addActive("airwallex", { apiKey: "k-1", clientId: "c-1" });
    const call = () => bench.keySeenByAction(connectionId, "airwallex.getBalances");
    await Promise.all(Array.from({ length: 20 }, call));
    expect(logins).toBe(1);
    expect(await call()).toBe("Bearer token-1");
  });
});

describe("credentials at rest", () => {
  it("open after rotate-kek without the old key", async () => {
    const connectionId = await bench.connectRillet("key-of-rotation");
    const next = randomBytes(32);
    const database = await openDatabase({
      connectionUri: bench.harness.databaseUri,
      role: "workflow_integrations",
      applicationName: "test-rotation",
      maxConnections: 2,
    });
    const back = {
      begin: () => Promise.resolve([bench.harness.kek, next]),
      end: () => Promise.resolve(),
    };
    try {
      await rotateKek([{ database: database, schema: "integrations" }], {
        begin: () => Promise.resolve([next, bench.harness.kek]),
        end: () => Promise.resolve(),
      });
      const fresh = await bench.harness.start({ loadKeks: () => Promise.resolve([next]) });
      const answer = await bench
        .connectionsOf(fresh)
        .verifyConnection({ connectionId }, { identity: asCaller });
      expect(answer.healthy).toBe(true);
      expect(bench.server.requests.at(-1)?.headers.authorization).toBe("Bearer key-of-rotation");
    } finally {
      // The other services of this file know the first key only.
      await rotateKek([{ database: database, schema: "integrations" }], back);
      await database.end();
    }
  });

  it("do not open in the row of another connection", async () => {
    const [from, to] = [await bench.connectRillet("key-from"), await bench.connectRillet("key-to")];
    await bench.harness.database.query(sql.type(z.object({}))`
      update integrations.connections as stolen
      set sealed_credentials = source.sealed_credentials
      from integrations.connections as source
      where stolen.id = ${to} and source.id = ${from}
    `);
    bench.server.requests.length = 0;
    const verifying = bench.replicas.one.verifyConnection(
      { connectionId: to },
      { identity: asCaller },
    );
    expect((await errorOf(verifying)).reason).toBe("INTERNAL_ERROR");
    expect(bench.server.requests).toEqual([]);
  });
});

describe("changes at the same time", () => {
  it("a verification that finds old keys bad changes nothing about new ones", async () => {
    const connectionId = await bench.connectRillet("key-old");
    const asked = Promise.withResolvers<void>();
    const replaced = Promise.withResolvers<void>();
    bench.handler = async ({ headers }) => {
      if (headers.authorization !== "Bearer key-old") return { body: { id: "org_1" } };
      asked.resolve();
      await replaced.promise;
      return { status: 401, body: { detail: "no" } };
    };
    const verifying = bench.replicas.one.verifyConnection({ connectionId }, { identity: asCaller });
    await asked.promise;
    await bench.connectRillet("key-new", connectionId);
    replaced.resolve();
    const answer = await verifying;
    expect(answer.healthy).toBe(false);
    expect(answer.connection?.status).toBe(ConnectionStatus.ACTIVE);
  });

  it("of ten that end a connection at once exactly one does", async () => {
    const connectionId = await bench.connectRillet("key-to-end");
    const endings = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? bench.replicas.one : bench.replicas.other).deleteConnection(
          { connectionId },
          { identity: asCaller },
        ),
      ),
    );
    expect(endings.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("DeleteConnection", () => {
  const remove = (connectionId: string) =>
    bench.replicas.one.deleteConnection({ connectionId }, { identity: asCaller });

  it("ends a connection whose credentials do not open any more", async () => {
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    await bench.harness.database.query(sql.type(z.object({}))`
      update integrations.connections set sealed_credentials = '\\x00' where id = ${connectionId}
    `);
    await remove(connectionId);
    expect((await bench.get(connectionId)).status).toBe(ConnectionStatus.DISCONNECTED);
  });

  it("removes a connection of a provider that the catalog does not have any more", async () => {
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    await bench.harness.database.query(sql.type(z.object({}))`
      update integrations.connections set provider = 'bygone' where id = ${connectionId}
    `);
    await remove(connectionId);
    expect((await errorOf(bench.get(connectionId))).reason).toBe("NOT_FOUND");
  });
});
