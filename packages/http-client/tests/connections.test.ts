import { afterAll, describe, expect, it } from "@jest/globals";

import { HOOKS_TEST_CERTIFICATE } from "./support/certificate.ts";
import { createLocalClient, failureOf, get } from "./support/requests.ts";
import {
  answer,
  findClosedPort,
  startRawServer,
  startServer,
  startTlsServer,
} from "./support/servers.ts";

const client = createLocalClient();
afterAll(() => client.close());

const toLoopback = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);

describe("connections", () => {
  it("are kept and used again for the same origin", async () => {
    await using server = await startServer((_request, response) => response.end("ok"));
    for (let i = 0; i < 20; i += 1) await client.request(get(`${server.origin}/${i}`));
    // The connection of the last answer is free again after a turn of the event loop.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it("carry hundreds of requests at a time, never more of them than allowed", async () => {
    await using server = await startServer((request, response) => response.end(request.url));
    await using narrow = createLocalClient({ maxConnectionsPerOrigin: 20 });
    const paths = Array.from({ length: 500 }, (_, i) => `/${i}`);
    const responses = await Promise.all(
      paths.map((path) => narrow.request(get(`${server.origin}${path}`))),
    );
    expect(responses.map((response) => response.body.toString())).toEqual(paths);
    expect(server.connections()).toBeLessThanOrEqual(20);
  });

  it("are closed by close, which waits for the requests under way", async () => {
    const arrived = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    await using server = await startServer((_request, response) => {
      arrived.resolve(undefined);
      void release.promise.then(() => response.end("done"));
    });
    const closing = createLocalClient();
    const underWay = closing.request(get(`${server.origin}/`));
    await arrived.promise;
    const closed = closing.close();
    const late = await failureOf(closing.request(get(`${server.origin}/`)));
    expect(late).toMatchObject({ code: "ABORTED", sent: false });
    release.resolve(undefined);
    expect((await underWay).body.toString()).toBe("done");
    await closed;
    await closing.close();
    await server.closed();
  });
});

describe("failures of the connection", () => {
  it("refused: CONNECT_FAILED, nothing sent", async () => {
    const port = await findClosedPort();
    const error = await failureOf(client.request(get(`http://127.0.0.1:${port}/s3cret?s3cret`)));
    expect(error).toMatchObject({ code: "CONNECT_FAILED", sent: false });
    expect(error.message).toBe(`Could not connect to 127.0.0.1:${port} (ECONNREFUSED).`);
  });

  it("no TLS handshake within connectTimeoutMs: CONNECT_FAILED, nothing sent", async () => {
    await using server = await startRawServer(() => undefined);
    await using impatient = createLocalClient({ connectTimeoutMs: 100 });
    const error = await failureOf(impatient.request(get(`https://127.0.0.1:${server.port}/`)));
    expect(error).toMatchObject({ code: "CONNECT_FAILED", sent: false });
    expect(error.message).toContain("timeout");
  });

  it("closed without an answer: NETWORK, perhaps sent", async () => {
    await using server = await startRawServer(answer(""));
    const error = await failureOf(client.request(get(`${server.origin}/s3cret?s3cret`)));
    expect(error).toMatchObject({ code: "NETWORK", sent: true });
    expect(error.message).not.toContain("s3cret");
  });

  it("reset in the middle of a body: NETWORK", async () => {
    await using server = await startRawServer((socket) =>
      socket.once("data", () => {
        const half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
        socket.write(half, () => socket.resetAndDestroy());
      }),
    );
    expect((await failureOf(client.request(get(`${server.origin}/`)))).code).toBe("NETWORK");
  });

  it.each([
    ["ends before its length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"],
    ["is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["has a broken header", "HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"],
    ["has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx"],
    [
      "switches protocols unasked",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
  ])("an answer that %s: NETWORK", async (_what, bytes) => {
    await using server = await startRawServer(answer(bytes));
    const error = await failureOf(client.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "NETWORK", sent: true });
  });

  it("an answer that is not HTTP is said to be that, not a broken connection", async () => {
    await using server = await startRawServer(answer("SSH-2.0-OpenSSH_9.9\r\n"));
    const { message } = await failureOf(client.request(get(`${server.origin}/`)));
    expect(message).toBe(`The response of 127.0.0.1:${server.port} is not valid HTTP.`);
  });

  it("a request is never repeated behind the caller's back", async () => {
    let requests = 0;
    await using server = await startRawServer((socket) =>
      socket.once("data", () => {
        requests += 1;
        socket.destroy();
      }),
    );
    await failureOf(client.request(get(`${server.origin}/`)));
    expect(requests).toBe(1);
  });
});

describe("TLS", () => {
  it("succeeds with a trusted certificate of the right name", async () => {
    await using server = await startTlsServer((_request, response) => response.end("secret"));
    await using trusting = createLocalClient({ ca: HOOKS_TEST_CERTIFICATE, resolve: toLoopback });
    for (let i = 0; i < 3; i += 1) {
      const response = await trusting.request(get(`${server.origin}/`));
      expect(response.body.toString()).toBe("secret");
    }
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it("fails for a certificate that nobody vouches for", async () => {
    await using server = await startTlsServer((_request, response) => response.end("secret"));
    await using strict = createLocalClient({ resolve: toLoopback });
    const error = await failureOf(strict.request(get(`${server.origin}/`)));
    expect(error).toMatchObject({ code: "TLS_FAILED", sent: false });
    expect(error.message).toContain("hooks.test");
  });

  it("fails for a certificate of another name", async () => {
    await using server = await startTlsServer((_request, response) => response.end("secret"));
    await using trusting = createLocalClient({ ca: HOOKS_TEST_CERTIFICATE, resolve: toLoopback });
    const error = await failureOf(trusting.request(get(`https://other.test:${server.port}/`)));
    expect(error).toMatchObject({ code: "TLS_FAILED", sent: false });
  });

  it("fails for a server that does not speak it", async () => {
    await using server = await startServer((_request, response) => response.end("plain"));
    const error = await failureOf(client.request(get(`https://127.0.0.1:${server.port}/`)));
    expect(error).toMatchObject({ code: "TLS_FAILED", sent: false });
  });
});
