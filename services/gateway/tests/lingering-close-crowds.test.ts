import { afterEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { startTestGateway } from "./support/gateway.ts";
import {
  closeRawClients,
  countLeft,
  head,
  JSON_TYPE,
  LONG,
  MIB,
  openRawClient,
  sendOn,
} from "./support/raw-client.ts";

describe("clients that still send when they are answered, in great numbers", () => {
  afterEach(closeRawClients);

  /** Longer than the slowest machine takes to count those that are waited for. */
  const lingeringMs = 300_000;

  it("are waited for up to 32 from an address; the others are cut off", async () => {
    const many = await startTestGateway({ lingeringMs });
    try {
      const clients = await Promise.all(
        Array.from({ length: 100 }, () => openRawClient(many.gateway.port)),
      );
      for (const { socket } of clients) socket.write(head(JSON_TYPE, LONG));
      await waitFor(() => clients.every((client) => client.isEnded()));
      for (const client of clients) expect(client.received()).toMatch(/^HTTP\/1\.1 401 /);
      expect(await countLeft(clients, 32)).toBe(32);
      // A place is free again when its client has gone.
      const [waiting] = clients.filter((client) => !client.isClosed());
      waiting?.socket.end();
      await waitFor(() => waiting?.isClosed());
      const next = await openRawClient(many.gateway.port);
      next.socket.write(head(JSON_TYPE, LONG));
      await waitFor(() => next.isEnded());
      expect(await sendOn(next, 10 * MIB)).toBe(10 * MIB);
      next.socket.end();
      await waitFor(() => next.isClosed());
      expect(next.error()).toBeUndefined();
    } finally {
      await many.close();
    }
  });

  it("are waited for up to 32 from a network, and 512 in all", async () => {
    const proxied = await startTestGateway({ trustedProxies: 1, lingeringMs });
    try {
      // 24 networks of IPv6, from each 30 addresses.
      const clients = await Promise.all(
        Array.from({ length: 720 }, async (_, index) => {
          const address = `2001:db8:0:${(index % 24).toString(16)}::${index.toString(16)}`;
          const client = await openRawClient(proxied.gateway.port);
          client.socket.write(head(JSON_TYPE, LONG, `X-Forwarded-For: ${address}`));
          return client;
        }),
      );
      await waitFor(() => clients.every((client) => client.isEnded()), { timeoutMs: 90_000 });
      expect(await countLeft(clients, 512)).toBe(512);
      for (const { socket } of clients) socket.destroy();
      const ofOne = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const client = await openRawClient(proxied.gateway.port);
          const address = `X-Forwarded-For: 2001:db8:1:1::${index.toString(16)}`;
          client.socket.write(head(JSON_TYPE, LONG, address));
          return client;
        }),
      );
      await waitFor(() => ofOne.every((client) => client.isEnded()));
      expect(await countLeft(ofOne, 32)).toBe(32);
    } finally {
      await proxied.close();
    }
  });

  it("are not waited for by a gateway that stops", async () => {
    const [stopping, staying] = await Promise.all([
      startTestGateway(),
      startTestGateway({ lingeringMs }),
    ]);
    const elsewhere = await openRawClient(staying.gateway.port);
    elsewhere.socket.write(head(JSON_TYPE, LONG));
    await waitFor(() => elsewhere.isEnded());
    const client = await openRawClient(stopping.gateway.port);
    client.socket.write(head(JSON_TYPE, LONG));
    await waitFor(() => client.isEnded());
    await stopping.close();
    expect(await countLeft([client], 0)).toBe(0);
    // One that was answered before it still has its time.
    expect(await sendOn(elsewhere, MIB)).toBe(MIB);
    elsewhere.socket.end();
    await waitFor(() => elsewhere.isClosed());
    expect(elsewhere.error()).toBeUndefined();
    await staying.close();
  });
});
