import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

import { afterAll, describe, expect, it } from "@jest/globals";

import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { answer, startRawServer, startServer } from "./support/servers.ts";

const client = createLocalClient();
afterAll(() => client.close());

/** Long enough that a busy machine has connected and sent by then. */
const SENT_MS = 1_000;

describe("timeoutMs", () => {
  it("ends a request to a server that never answers", async () => {
    await using server = await startServer(() => undefined);
    const error = await failureOf(client.request(get(`${server.origin}/`, { timeoutMs: SENT_MS })));
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
    await server.closed();
  });

  it("ends a request to a server that accepts and never reads", async () => {
    await using server = await startRawServer((socket) => socket.pause());
    const body = Buffer.alloc(20_000_000);
    const error = await failureOf(
      client.request(get(`${server.origin}/`, { method: "POST", body, timeoutMs: SENT_MS })),
    );
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
  });

  it("ends a response whose body drips for ever", async () => {
    await using server = await startServer((_request, response) => {
      const drip = setInterval(() => response.write("."), 10);
      response.once("close", () => clearInterval(drip));
    });
    const error = await failureOf(client.request(get(`${server.origin}/`, { timeoutMs: SENT_MS })));
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
    await server.closed();
  });

  it("ends a response whose headers drip for ever", async () => {
    await using server = await startRawServer((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const drip = setInterval(() => socket.write("x-drip: 1\r\n"), 10);
        socket.once("close", () => clearInterval(drip));
      }),
    );
    const error = await failureOf(client.request(get(`${server.origin}/`, { timeoutMs: SENT_MS })));
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
    await server.closed();
  });

  it("covers all redirects together", async () => {
    await using server = await startServer((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: "/again" }).end(), 20);
    });
    const error = await failureOf(
      client.request(get(`${server.origin}/`, { timeoutMs: SENT_MS, followRedirects: 1_000 })),
    );
    expect(error).toMatchObject({ code: "TIMEOUT", sent: true });
  });

  it("covers the wait for a free connection, and nothing was sent then", async () => {
    await using server = await startServer(() => undefined);
    await using narrow = createLocalClient({ maxConnectionsPerOrigin: 1 });
    const first = failureOf(
      narrow.request(get(`${server.origin}/first`, { timeoutMs: 2 * SENT_MS })),
    );
    const second = failureOf(narrow.request(get(`${server.origin}/second`, { timeoutMs: 100 })));
    expect(await second).toMatchObject({ code: "TIMEOUT", sent: false });
    expect(await first).toMatchObject({ code: "TIMEOUT", sent: true });
  });
});

describe("the caller's signal", () => {
  it("stops a request that has not begun", async () => {
    const error = await failureOf(
      client.request(get("http://127.0.0.1:1/"), AbortSignal.abort(new Error("shutting down"))),
    );
    expect(error).toMatchObject({ code: "ABORTED", sent: false });
    expect(error.cause).toMatchObject({ message: "shutting down" });
  });

  it("closes the connection of a request that waits for its response", async () => {
    const abort = new AbortController();
    await using server = await startServer(() => abort.abort());
    const error = await failureOf(client.request(get(`${server.origin}/`), abort.signal));
    expect(error).toMatchObject({ code: "ABORTED", sent: true });
    await server.closed();
  });

  it("closes the connection in the middle of a body", async () => {
    const abort = new AbortController();
    await using server = await startServer((_request, response) => {
      response.write("half", () => setImmediate(() => abort.abort()));
    });
    const error = await failureOf(client.request(get(`${server.origin}/`), abort.signal));
    expect(error).toMatchObject({ code: "ABORTED", sent: true });
    await server.closed();
  });

  it("takes a queued request out without disturbing the one before it", async () => {
    const release = Promise.withResolvers<undefined>();
    const seen: string[] = [];
    await using server = await startServer((request, response) => {
      seen.push(request.url ?? "");
      void release.promise.then(() => response.end("done"));
    });
    await using narrow = createLocalClient({ maxConnectionsPerOrigin: 1 });
    const abort = new AbortController();
    const first = narrow.request(get(`${server.origin}/first`));
    const second = failureOf(narrow.request(get(`${server.origin}/second`), abort.signal));
    const third = narrow.request(get(`${server.origin}/third`));
    abort.abort();
    expect(await second).toMatchObject({ code: "ABORTED", sent: false });
    release.resolve(undefined);
    expect((await first).status).toBe(200);
    expect((await third).status).toBe(200);
    expect(seen).toEqual(["/first", "/third"]);
    expect(server.connections()).toBe(1);
  });
});

describe("maxResponseBytes", () => {
  it("allows a body of exactly that size", async () => {
    await using server = await startServer((_request, response) => response.end("x".repeat(1_000)));
    const response = await client.request(get(`${server.origin}/`, { maxResponseBytes: 1_000 }));
    expect(response.body).toHaveLength(1_000);
  });

  it("stops reading an endless body and closes the connection", async () => {
    let written = 0;
    await using server = await startServer((_request, response) => {
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        while (!response.destroyed) {
          written += chunk.length;
          if (!response.write(chunk)) return;
        }
      };
      response.on("drain", write);
      write();
    });
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", sent: true });
    await server.closed();
    // The sockets' buffers take far less than this on top of the limit of 1 MB.
    expect(written).toBeLessThan(100_000_000);
  });

  it("refuses at once a body that is announced as larger", async () => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-length": "10000000000" });
      response.flushHeaders();
    });
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", sent: true });
    await server.closed();
  });

  it("counts bodies sent in chunks of one byte", async () => {
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const bytes = `${head}${"1\r\nx\r\n".repeat(5_000)}0\r\n\r\n`;
    await using server = await startRawServer(answer(bytes));
    const exact = await client.request(get(`${server.origin}/`, { maxResponseBytes: 5_000 }));
    expect(exact.body.equals(Buffer.alloc(5_000, "x"))).toBe(true);
    const error = await failureOf(
      client.request(get(`${server.origin}/`, { maxResponseBytes: 4_999 })),
    );
    expect(error.code).toBe("RESPONSE_TOO_LARGE");
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("bounds what a %s body expands to", async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(50_000_000));
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bomb);
    });
    expect(bomb.length).toBeLessThan(1_000_000);
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", sent: true });
  });

  it("bounds every layer of a body that was compressed several times", async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(50_000_000)));
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(bomb);
    });
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error.code).toBe("RESPONSE_TOO_LARGE");
  });

  it("holds for the header block as well", async () => {
    const bytes = `HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(200_000)}\r\n\r\n`;
    await using server = await startRawServer(answer(bytes));
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", sent: true });
  });

  it("may be 0 for a caller who wants no body", async () => {
    await using server = await startServer((request, response) => {
      response.end(request.url === "/empty" ? "" : "x");
    });
    const empty = await client.request(get(`${server.origin}/empty`, { maxResponseBytes: 0 }));
    expect(empty.body).toHaveLength(0);
    const error = await failureOf(
      client.request(get(`${server.origin}/x`, { maxResponseBytes: 0 })),
    );
    expect(error.code).toBe("RESPONSE_TOO_LARGE");
  });
});

describe("a response that may be cut", () => {
  it("counts with its beginning, however long it says it is or goes on", async () => {
    await using server = await startServer((request, response) => {
      const length = request.url === "/announced" ? { "content-length": "10000000000" } : {};
      response.writeHead(202, length);
      const timer = setInterval(() => response.write("x".repeat(1_000)), 1);
      response.on("close", () => clearInterval(timer));
    });
    for (const path of ["/announced", "/endless"]) {
      const response = await client.request(
        get(`${server.origin}${path}`, { maxResponseBytes: 2_500, cutsResponse: true }),
      );
      expect(response.status).toBe(202);
      expect(response.body.toString()).toBe("x".repeat(2_500));
    }
    await server.closed();
  });
});
