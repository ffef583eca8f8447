import { setImmediate as turn } from "node:timers/promises";
import type { Socket } from "node:net";
import { createServer } from "node:tls";

import { describe, expect, it } from "@jest/globals";

import type { SafeHttpClient, SafeRequest } from "@workflow/http-client";

import { HOOKS_TEST_CERTIFICATE, HOOKS_TEST_KEY } from "./support/certificate.ts";
import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startRawServer } from "./support/servers.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/** More than fits into the buffers of a socket. */
const BODY = "b".repeat(300_000);

/** The requests that were received completely. */
interface Received {
  head: string;
  body: string;
  /** The number of the request on its connection, from 1. */
  nth: number;
}

type Respond = (socket: Socket, request: Received) => void;

/** Reads requests off a connection. */
function listenTo(received: Received[], respond: Respond): (socket: Socket) => void {
  return (socket) => {
    let buffered = "";
    let nth = 0;
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      buffered += chunk.toString("latin1");
      const end = buffered.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(buffered.slice(0, end))?.[1] ?? 0);
      if (buffered.length < end + 4 + length) return;
      nth += 1;
      const request = { head: buffered.slice(0, end), body: buffered.slice(end + 4), nth };
      buffered = "";
      received.push(request);
      respond(socket, request);
    });
  };
}

const BREAKS: [string, (socket: Socket) => void][] = [
  ["closed", (socket) => socket.destroy()],
  ["ended", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
];

/** A first request whose connection is kept, and then another one over this connection. */
async function requestTwice(client: SafeHttpClient, first: SafeRequest, second: SafeRequest) {
  await client.request(first);
  // The connection is free again only after a turn of the event loop.
  await turn();
  return client.request(second);
}

function keyed(url: string, key: string): SafeRequest {
  return get(url, { method: "POST", headers: { "Idempotency-Key": key }, body: BODY });
}

describe("a kept connection that breaks before the first byte of an answer", () => {
  it.each(BREAKS)(
    "when %s: the request is made once more over a fresh one, whole, with its key",
    async (_how, destroy) => {
      const received: Received[] = [];
      await using server = await startRawServer(
        listenTo(received, (socket, { nth }) => {
          if (nth === 1) socket.write(ANSWER);
          else destroy(socket);
        }),
      );
      for (let round = 0; round < 50; round += 1) {
        await using client = createLocalClient();
        const url = `${server.origin}/`;
        const response = await requestTwice(client, get(url), keyed(url, `key-${round}`));
        expect(response.body.toString()).toBe("ok");
        const attempts = received.filter(({ head }) => head.includes(`key-${round}\r\n`));
        expect(attempts.map(({ nth }) => nth)).toEqual([2, 1]);
        expect(attempts.map(({ body }) => body === BODY)).toEqual([true, true]);
        expect(attempts[1]?.head).toBe(
          attempts[0]?.head.replace("connection: keep-alive", "connection: close"),
        );
      }
    },
  );

  it("while the body is on its way: the same", async () => {
    const keys: string[] = [];
    let broken = 0;
    await using server = await startRawServer((socket) => {
      let requests = 0;
      socket.on("data", (chunk) => {
        const key = /idempotency-key: (\S+)/i.exec(chunk.toString("latin1"))?.[1];
        if (key !== undefined) keys.push(key);
        if (key === undefined && requests > 0) return;
        requests += 1;
        if (requests === 1 && socket.bytesRead < 1_000) socket.write(ANSWER);
        else if (requests === 2) {
          broken += 1;
          socket.resetAndDestroy();
        } else socket.write(ANSWER);
      });
    });
    await using client = createLocalClient();
    const url = `${server.origin}/`;
    await requestTwice(client, get(url), keyed(url, "k"));
    expect({ broken, keys }).toEqual({ broken: 1, keys: ["k", "k"] });
  });

  it("with many kept ones that all are dead: each request is made once more, none twice", async () => {
    const received: Received[] = [];
    await using server = await startRawServer(
      listenTo(received, (socket, { nth }) => {
        if (nth === 1) setTimeout(() => socket.write(ANSWER), 20);
        else socket.resetAndDestroy();
      }),
    );
    await using client = createLocalClient();
    const url = `${server.origin}/`;
    await Promise.all(Array.from({ length: 40 }, () => client.request(get(url))));
    await turn();
    const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
    const responses = await Promise.all(keys.map((key) => client.request(keyed(url, key))));
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
    const dead = received.filter(({ nth }) => nth === 2).length;
    expect(dead).toBeGreaterThan(20);
    expect(received).toHaveLength(40 + 40 + dead);
  });

  it("under TLS: the same", async () => {
    const received: Received[] = [];
    const identity = { cert: HOOKS_TEST_CERTIFICATE, key: HOOKS_TEST_KEY };
    const respond: Respond = (socket, { nth }) => {
      if (nth === 1) socket.write(ANSWER);
      else socket.destroy();
    };
    const server = createServer(identity, listenTo(received, respond));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    try {
      for (let round = 0; round < 10; round += 1) {
        await using client = createLocalClient({
          ca: HOOKS_TEST_CERTIFICATE,
          resolve: () => Promise.resolve(["127.0.0.1"]),
        });
        const url = `https://hooks.test:${port}/`;
        await requestTwice(client, get(url), keyed(url, `key-${round}`));
        const attempts = received.filter(({ head }) => head.includes(`key-${round}\r\n`));
        expect(attempts.map(({ nth }) => nth)).toEqual([2, 1]);
      }
    } finally {
      server.close();
    }
  });

  it.each(["GET", "PUT", "DELETE"])("a %s needs no key for that", async (method) => {
    const received: Received[] = [];
    await using server = await startRawServer(
      listenTo(received, (socket, { nth }) => {
        if (nth === 1) socket.write(ANSWER);
        else socket.destroy();
      }),
    );
    await using client = createLocalClient();
    const url = `${server.origin}/`;
    await requestTwice(client, get(url), get(url, { method }));
    expect(received).toHaveLength(3);
  });
});

describe("a request is made only once", () => {
  async function failAfterFirst(respond: Respond, second: Partial<SafeRequest>) {
    const received: Received[] = [];
    await using server = await startRawServer(
      listenTo(received, (socket, request) => {
        if (request.nth === 1 && received.length === 1) socket.write(ANSWER);
        else respond(socket, request);
      }),
    );
    await using client = createLocalClient();
    const url = `${server.origin}/`;
    const error = await failureOf(requestTwice(client, get(url), get(url, second)));
    return { error, received };
  }

  const key = { headers: { "Idempotency-Key": "k" } };

  it.each(["POST", "PATCH"])(
    "over a kept connection as a %s without a key, since nobody could tell it from another",
    async (method) => {
      const { error, received } = await failAfterFirst((socket) => socket.destroy(), { method });
      expect(error).toMatchObject({ code: "NETWORK", sent: true });
      expect(received.map(({ nth }) => nth)).toEqual([1, 2]);
    },
  );

  it.each(["H", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"])(
    "when bytes of an answer came: %j",
    async (bytes) => {
      const respond: Respond = (socket) => socket.write(bytes, () => socket.end());
      const { error, received } = await failAfterFirst(respond, key);
      expect(error).toMatchObject({ code: "NETWORK", sent: true });
      expect(received.map(({ nth }) => nth)).toEqual([1, 2]);
    },
  );

  it("when the answer is late", async () => {
    const { error, received } = await failAfterFirst(() => undefined, { ...key, timeoutMs: 200 });
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
    expect(received).toHaveLength(2);
  });

  it("over the fresh connection too", async () => {
    const { error, received } = await failAfterFirst((socket) => socket.destroy(), key);
    expect(error).toMatchObject({ code: "NETWORK", sent: true });
    expect(received.map(({ nth }) => nth)).toEqual([1, 2, 1]);
  });
});

describe("the fresh connection", () => {
  it("that cannot be made leaves no doubt that the request was sent", async () => {
    const { promise: gone, resolve: go } = Promise.withResolvers<undefined>();
    const received: Received[] = [];
    const server = await startRawServer(
      listenTo(received, (socket, { nth }) => {
        if (nth === 1) socket.write(ANSWER);
        else void server[Symbol.asyncDispose]().then(() => go(undefined));
      }),
    );
    await using client = createLocalClient();
    const url = `${server.origin}/`;
    const error = await failureOf(requestTwice(client, get(url), get(url)));
    expect(error).toMatchObject({ code: "CONNECT_FAILED", sent: true });
    await gone;
  });

  it("is judged anew", async () => {
    const received: Received[] = [];
    await using server = await startRawServer(
      listenTo(received, (socket, { nth }) => {
        if (nth === 1) socket.write(ANSWER);
        else socket.destroy();
      }),
    );
    let asked = 0;
    await using client = createLocalClient({
      resolve: () => Promise.resolve((asked += 1) === 1 ? ["127.0.0.1"] : []),
    });
    const url = `http://hooks.test:${server.port}/`;
    const error = await failureOf(requestTwice(client, get(url), get(url)));
    expect(error).toMatchObject({ code: "DNS_FAILED", sent: true });
    expect(received).toHaveLength(2);
  });
});
