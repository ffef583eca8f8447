import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { afterAll, describe, expect, it } from "@jest/globals";

import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { answer, startRawServer, startServer } from "./support/servers.ts";

const client = createLocalClient();
afterAll(() => client.close());

describe("responses", () => {
  it("of every status are results, not errors", async () => {
    await using server = await startServer((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end("text");
    });
    for (const status of [200, 201, 400, 404, 429, 500, 503]) {
      const response = await client.request(get(`${server.origin}/${status}`));
      expect(response.status).toBe(status);
      expect(response.body.toString()).toBe("text");
      expect(response.durationMs).toBeGreaterThanOrEqual(0);
    }
  });

  it("204 and 304 have no body", async () => {
    await using server = await startServer((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { etag: '"1"' }).end();
    });
    for (const status of [204, 304]) {
      const response = await client.request(get(`${server.origin}/${status}`));
      expect(response.status).toBe(status);
      expect(response.body).toHaveLength(0);
      expect(response.headers["etag"]).toBe('"1"');
    }
  });

  it("to HEAD have no body and keep the announced length, however large", async () => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-length": "10000000000", "content-encoding": "gzip" });
      response.end();
    });
    const response = await client.request(get(`${server.origin}/`, { method: "HEAD" }));
    expect(response.body).toHaveLength(0);
    expect(response.headers["content-length"]).toBe("10000000000");
    expect(response.headers["content-encoding"]).toBe("gzip");
  });

  it("are the final ones, not the informational ones before them", async () => {
    await using server = await startServer((_request, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      response.end("final");
    });
    const response = await client.request(get(`${server.origin}/`));
    expect(response.status).toBe(200);
    expect(response.headers["link"]).toBeUndefined();
    expect(response.body.toString()).toBe("final");
  });

  it("may end with the connection instead of a length", async () => {
    await using server = await startRawServer(
      answer("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end"),
    );
    const response = await client.request(get(`${server.origin}/`));
    expect(response.body.toString()).toBe("until the end");
  });
});

describe("a response whose reader has no room", () => {
  it("is taken no further until there is, while others are", async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, "x");
    await using server = await startServer((_request, response) => response.end(body));
    const room = Promise.withResolvers<void>();
    let taken = 0;
    const waiting = client.request(
      get(`${server.origin}/`, {
        maxResponseBytes: body.length,
        onData: (bytes) => {
          taken += bytes;
          return taken === bytes ? room.promise : undefined;
        },
      }),
    );
    const other = await client.request(get(`${server.origin}/`, { maxResponseBytes: body.length }));
    expect(other.body).toHaveLength(body.length);
    expect(taken).toBeLessThan(body.length / 2);
    room.resolve();
    expect((await waiting).body.equals(body)).toBe(true);
    expect(taken).toBe(body.length);
  });
});

describe("a small response that decoding makes large", () => {
  const zeros = Buffer.alloc(8 * 1024 * 1024);
  const KIB = 1024;

  it.each([
    ["gzip", gzipSync(zeros)],
    ["br", brotliCompressSync(zeros)],
    ["gzip, gzip", gzipSync(gzipSync(zeros, { level: 1 }))],
  ])("is decoded no further than there is room: %s", async (encoding, body) => {
    expect(body.length).toBeLessThan(64 * KIB);
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(body);
    });
    const waits = Promise.withResolvers<void>();
    const room = Promise.withResolvers<void>();
    let taken = 0;
    const waiting = client.request(
      get(`${server.origin}/`, {
        maxResponseBytes: zeros.length,
        onData: (bytes) => {
          taken += bytes;
          if (taken <= 128 * KIB) return undefined;
          waits.resolve();
          return room.promise;
        },
      }),
    );
    await waits.promise;
    // Other work goes on, and decoding pauses meanwhile.
    const other = await client.request(
      get(`${server.origin}/`, { maxResponseBytes: zeros.length }),
    );
    expect(other.body).toHaveLength(zeros.length);
    expect(taken).toBeLessThan(512 * KIB);
    room.resolve();
    expect((await waiting).body.equals(zeros)).toBe(true);
    expect(taken).toBeGreaterThanOrEqual(zeros.length);
  });

  it("waits for room no longer than its own time", async () => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(zeros));
    });
    let taken = 0;
    const request = get(`${server.origin}/`, {
      maxResponseBytes: zeros.length,
      timeoutMs: 500,
      onData: (bytes) => {
        taken += bytes;
        return taken <= 64 * KIB ? undefined : new Promise<void>(() => undefined);
      },
    });
    expect(await failureOf(client.request(request))).toMatchObject({ code: "TIMEOUT" });
  });
});

describe("response headers", () => {
  it("have lower-case names and a list where a header came several times", async () => {
    await using server = await startServer((_request, response) => {
      response.setHeader("Set-Cookie", ["a=1", "b=2"]);
      response.setHeader("X-Mixed-Case", "Value");
      response.end();
    });
    const { headers } = await client.request(get(`${server.origin}/`));
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers["x-mixed-case"]).toBe("Value");
  });

  it("are read as Latin-1, byte by byte", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-latin: caf\xe9\r\nx-utf8: ";
    const bytes = Buffer.concat([Buffer.from(head, "latin1"), Buffer.from("✓\r\n\r\n")]);
    await using server = await startRawServer(answer(bytes));
    const { headers } = await client.request(get(`${server.origin}/`));
    expect(headers["x-latin"]).toBe("café");
    expect(Buffer.from(String(headers["x-utf8"]), "latin1").toString()).toBe("✓");
  });

  it("cannot touch the prototype of the result", async () => {
    const names = "__proto__: a\r\n__proto__: b\r\nconstructor: c\r\n";
    const bytes = `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${names}\r\n`;
    await using server = await startRawServer(answer(bytes));
    const { headers } = await client.request(get(`${server.origin}/`));
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(Object.keys(headers)).toEqual(["content-length", "constructor"]);
  });
});

describe("content encodings", () => {
  const text = "héllo ".repeat(1_000);
  it.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
    ["deflate, gzip", gzipSync(deflateSync(text))],
  ])("%s is decoded", async (encoding, body) => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding, "content-length": body.length });
      response.end(body);
    });
    const response = await client.request(get(`${server.origin}/`));
    expect(response.body.toString()).toBe(text);
  });

  it("are no longer among the headers of a decoded body", async () => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "x-other": "1" }).end(gzipSync(text));
    });
    const { headers } = await client.request(get(`${server.origin}/`));
    expect(headers).not.toHaveProperty("content-encoding");
    expect(headers).not.toHaveProperty("content-length");
    expect(headers["x-other"]).toBe("1");
  });

  it("that are unknown leave body and headers as they came", async () => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "rot13" }).end("uryyb");
    });
    const response = await client.request(get(`${server.origin}/`));
    expect(response.body.toString()).toBe("uryyb");
    expect(response.headers["content-encoding"]).toBe("rot13");
  });

  it.each([
    ["is not what it claims", "gzip", Buffer.from("plain")],
    ["is cut off", "gzip", gzipSync(text).subarray(0, 40)],
    ["is wrapped too often", "gzip, gzip, gzip, gzip", gzipSync(text)],
  ])("of a body that %s fail as NETWORK", async (_what, encoding, body) => {
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(body);
    });
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "NETWORK", sent: true });
  });
});
