import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Database } from "@workflow/db";
import { listen, openDatabase, sql } from "@workflow/db";
import type { TestDatabase } from "@workflow/testkit";
import { createTestDatabase, waitFor } from "@workflow/testkit";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "listen-test",
  });
});

afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

async function notify(channel: string, payload: string): Promise<void> {
  await database.query(sql.unsafe`select pg_notify(${channel}, ${payload})`);
}

describe("listen", () => {
  it("hears what is notified on its channels once it has resolved", async () => {
    const heard: string[] = [];
    const listener = await listen({
      connectionUri: testDatabase.connectionUri,
      channels: ["one", "Two words"],
      onNotification: (channel, payload) => heard.push(`${channel}: ${payload}`),
      onReconnect: () => {},
    });
    await notify("one", "a");
    await notify("other", "b");
    await notify("Two words", "c");
    await waitFor(() => expect(heard).toEqual(["one: a", "Two words: c"]));
    await listener.stop();
  });

  it("connects again after its connection was ended, and says so", async () => {
    const heard: string[] = [];
    let connections = 0;
    const listener = await listen({
      connectionUri: testDatabase.connectionUri,
      channels: ["again"],
      onNotification: (_channel, payload) => heard.push(payload),
      onReconnect: () => (connections += 1),
    });
    expect(connections).toBe(1);
    await database.query(sql.unsafe`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'listen' and datname = current_database()`);
    await waitFor(() => connections === 2);
    await notify("again", "back");
    await waitFor(() => expect(heard).toEqual(["back"]));
    await listener.stop();
  });

  it("goes on after a callback that threw, which onError hears of", async () => {
    const errors: unknown[] = [];
    const heard: string[] = [];
    const listener = await listen({
      connectionUri: testDatabase.connectionUri,
      channels: ["fragile"],
      onNotification: (_channel, payload) => {
        if (payload === "bad") throw new Error("bad payload");
        heard.push(payload);
      },
      onReconnect: () => {},
      onError: (error) => errors.push(error),
    });
    await notify("fragile", "bad");
    await notify("fragile", "good");
    await waitFor(() => expect(heard).toEqual(["good"]));
    expect(errors).toEqual([new Error("bad payload")]);
    await listener.stop();
  });

  it("leaves no connection behind when its signal is aborted", async () => {
    const controller = new AbortController();
    await listen({
      connectionUri: testDatabase.connectionUri,
      channels: ["short"],
      onNotification: () => {},
      onReconnect: () => {},
      signal: controller.signal,
    });
    controller.abort();
    await waitFor(async () => {
      const left = await database.exists(sql.unsafe`
        select from pg_stat_activity
        where application_name = 'listen' and datname = current_database()
          and query like '%short%'`);
      return !left;
    });
  });
});
