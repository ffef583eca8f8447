import type { LookupAddress } from "node:dns";

import { describe, expect, it } from "@jest/globals";

import { createGuardedConnector, createGuardedLookup } from "../src/guarded-connector.ts";
import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer } from "./support/servers.ts";

/** The lookup's result for a name with these answers. */
function lookUp(answers: string[], allowPrivate: boolean): Promise<string | LookupAddress[]> {
  const lookup = createGuardedLookup(() => Promise.resolve(answers), { allowPrivate });
  return new Promise((resolve, reject) => {
    lookup("hooks.test", { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}

describe("judging the answers of a name", () => {
  it("hands out all addresses, in order, when every one is public", async () => {
    const addresses = await lookUp(["2606:4700:4700::1111", "1.1.1.1"], false);
    expect(addresses).toEqual([
      { address: "2606:4700:4700::1111", family: 6 },
      { address: "1.1.1.1", family: 4 },
    ]);
  });

  it.each([
    [["127.0.0.1"]],
    [["1.1.1.1", "127.0.0.1"]],
    [["1.1.1.1", "2606:4700:4700::1111", "::ffff:10.0.0.1"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
  ])("refuses the host when one is not: %j", async (answers) => {
    const error = await failureOf(lookUp(answers, false));
    expect(error.code).toBe("DNS_FAILED");
  });

  it("reports a name without any address", async () => {
    expect((await failureOf(lookUp([], false))).code).toBe("DNS_FAILED");
  });
});

describe("opening a connection", () => {
  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])(
    "judges a literal address once more: %s",
    async (hostname) => {
      const connect = createGuardedConnector({
        allowPrivate: false,
        lookup: () => Promise.reject(new Error("a literal address is not resolved")),
        connectTimeoutMs: 1_000,
        ca: undefined,
      });
      const connection = new Promise((resolve, reject) => {
        connect({ hostname, protocol: "https:", port: "443" }, (error, socket) => {
          if (error === null) resolve(socket);
          else reject(error);
        });
      });
      expect((await failureOf(connection)).code).toBe("ADDRESS_NOT_ALLOWED");
    },
  );
});

describe("requests to names", () => {
  it("connect to the address that was judged, whatever the name answers afterwards", async () => {
    await using server = await startServer((request, response) => {
      response.setHeader("connection", "close");
      response.end(request.socket.localAddress);
    });
    const asked: string[] = [];
    await using client = createLocalClient({
      resolve: (host) => {
        asked.push(host);
        // Nothing listens on the second address: a connection to it would fail.
        return Promise.resolve([asked.length === 1 ? "127.0.0.1" : "127.0.0.2"]);
      },
    });
    const response = await client.request(get(`http://hooks.test:${server.port}/`));
    expect(response.body.toString()).toBe("127.0.0.1");
    expect(asked).toEqual(["hooks.test"]);

    const error = await failureOf(client.request(get(`http://hooks.test:${server.port}/`)));
    expect(error).toMatchObject({ code: "CONNECT_FAILED", sent: false });
    expect(asked).toHaveLength(2);
  });

  it("send the name, not the address, as host", async () => {
    await using server = await startServer((request, response) =>
      response.end(request.headers.host),
    );
    await using client = createLocalClient({ resolve: () => Promise.resolve(["127.0.0.1"]) });
    const response = await client.request(get(`http://hooks.test:${server.port}/`));
    expect(response.body.toString()).toBe(`hooks.test:${server.port}`);
  });

  it("try the next address when one does not answer", async () => {
    await using server = await startServer((_request, response) => response.end("reached"));
    await using client = createLocalClient({
      resolve: () => Promise.resolve(["127.0.0.2", "127.0.0.1"]),
    });
    const response = await client.request(get(`http://hooks.test:${server.port}/`));
    expect(response.body.toString()).toBe("reached");
  });

  it("fail with DNS_FAILED when the resolver fails", async () => {
    await using client = createLocalClient({
      resolve: () => Promise.reject(new Error("SERVFAIL")),
    });
    const error = await failureOf(client.request(get("http://hooks.test/")));
    expect(error).toMatchObject({ code: "DNS_FAILED", sent: false });
    expect(error.message).toContain("hooks.test");
  });

  it("end in time when the resolver never answers", async () => {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    await using client = createLocalClient({ resolve: () => promise });
    const error = await failureOf(client.request(get("http://hooks.test/", { timeoutMs: 50 })));
    expect(error).toMatchObject({ code: "TIMEOUT", sent: false });
    resolve([]);
  });
});
