import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { createApiKey } from "../src/admin/index.ts";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import {
  answerOf,
  closeRawClients,
  head,
  JSON_TYPE,
  LONG,
  MIB,
  openRawClient,
  sendOn,
} from "./support/raw-client.ts";

/** What a system says on a connection that was cut: the answer may be lost with it. */
const CUT = ["ECONNRESET", "EPIPE"];

describe("a client that still sends when it is answered", () => {
  let test: TestGateway;
  let readingKey: string;

  beforeAll(async () => {
    test = await startTestGateway();
    const { companyId } = test.company;
    const made = await createApiKey(test.database, {
      companyId,
      name: "reads",
      scopes: ["workflows:read"],
    });
    readingKey = made.key;
  });
  afterEach(closeRawClients);
  afterAll(() => test.close());

  const key = () => `X-Api-Key: ${test.company.apiKey}`;

  const refusals: [string, number, () => string][] = [
    ["401", 401, () => head(JSON_TYPE, LONG)],
    ["403", 403, () => head(JSON_TYPE, LONG, `X-Api-Key: ${readingKey}`)],
    ["413", 413, () => head(JSON_TYPE, LONG, key())],
    ["400", 400, () => head(JSON_TYPE, LONG).replace("Host: x\r\n", "")],
    ["404", 404, () => head(JSON_TYPE, LONG).replace("/workflows", "/nothing")],
    ["405", 405, () => head(JSON_TYPE, LONG).replace("POST", "PATCH")],
    [
      "415 of an upload",
      415,
      () =>
        head("Content-Type: multipart/form-data; boundary=x", LONG, key()).replace(
          "/workflows",
          "/tables/import?format=csv",
        ),
    ],
    [
      "400 of an upload",
      400,
      () =>
        head("Content-Type: text/csv", LONG, key()).replace(
          "/workflows",
          "/tables/import?format=tsv",
        ),
    ],
    ["413 of chunks", 413, () => head(JSON_TYPE, "Transfer-Encoding: chunked", key())],
    ["401 over HTTP/1.0", 401, () => head(JSON_TYPE, LONG).replace("HTTP/1.1", "HTTP/1.0")],
    ["401 that was to close", 401, () => head(JSON_TYPE, LONG, "Connection: close")],
    [
      "404 of a GET with a body",
      404,
      () => head(JSON_TYPE, LONG, key()).replace("POST /api", "GET /b"),
    ],
  ];

  /** Sends a request with 10 MiB behind it, and takes the refusal that comes meanwhile. */
  async function expectRefusal(request: string, status: number): Promise<void> {
    const client = await openRawClient(test.gateway.port);
    client.socket.write(request);
    const isChunked = request.includes("chunked");
    if (isChunked) client.socket.write(`${(10 * MIB).toString(16)}\r\n`);
    expect(await sendOn(client, 10 * MIB)).toBe(10 * MIB);
    const answer = await answerOf(client);
    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/\r\nConnection: close/);
    await waitFor(() => client.isEnded());
    client.socket.end();
    await waitFor(() => client.isClosed());
    expect(client.error()).toBeUndefined();
  }

  it.each(refusals)("reads its answer although it sends on: %s", (_what, status, request) =>
    expectRefusal(request(), status),
  );

  it("reads its answer although it sends on: 429", async () => {
    const tries = Array.from({ length: 110 }, () =>
      fetch(`${test.url}/api/v1/auth/session`, { method: "POST", body: "{" }),
    );
    const statuses = await Promise.all(tries.map(async (sent) => (await sent).status));
    expect(statuses).toContain(429);
    await expectRefusal(head(JSON_TYPE, LONG).replace("/workflows", "/auth/session"), 429);
  });

  it("is answered at once, not only when it has sent everything", async () => {
    const client = await openRawClient(test.gateway.port);
    client.socket.write(head(JSON_TYPE, LONG));
    expect((await answerOf(client)).status).toBe(401);
    await waitFor(() => client.isEnded());
    expect(client.isClosed()).toBe(false);
  });

  it("is cut off after 64 MiB", async () => {
    const client = await openRawClient(test.gateway.port);
    client.socket.write(head(JSON_TYPE, `Content-Length: ${1024 * MIB}`));
    const sent = await sendOn(client, 1024 * MIB);
    expect(sent).toBeGreaterThan(64 * MIB);
    expect(sent).toBeLessThan(128 * MIB);
    await waitFor(() => client.isClosed());
    expect(CUT).toContain(client.error());
    expect((await answerOf(client)).status).toBe(401);
  });

  it("is cut off after 10 seconds, however slowly it sends, and whatever it says of its length", async () => {
    const [slow, short] = await Promise.all([
      openRawClient(test.gateway.port),
      openRawClient(test.gateway.port),
    ]);
    slow.socket.write(head(JSON_TYPE, LONG));
    short.socket.write(`${head(JSON_TYPE, "Content-Length: 1000")}{`);
    const drip = setInterval(() => {
      if (slow.socket.writable) slow.socket.write(" ");
      if (short.socket.writable) short.socket.write(" ");
    }, 50);
    try {
      expect((await answerOf(slow)).head).toMatch(/\r\nConnection: close/);
      expect((await answerOf(short)).head).toMatch(/\r\nConnection: keep-alive/);
      // What was on its way when it was cut off makes the system reset it instead of ending it.
      const isCut = (): boolean => short.isEnded() || short.isClosed();
      await waitFor(() => slow.isClosed() && isCut(), { timeoutMs: 60_000 });
    } finally {
      clearInterval(drip);
    }
    expect(CUT).toContain(slow.error());
    expect(short.received().match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it("has an upload refused half-way, when it is over the limit", async () => {
    const client = await openRawClient(test.gateway.port);
    const request = head("Content-Type: text/csv", "Transfer-Encoding: chunked", key());
    client.socket.write(request.replace("/workflows", "/tables/import?format=csv&name=a"));
    client.socket.write(`${(80 * MIB).toString(16)}\r\n`);
    expect(await sendOn(client, 80 * MIB)).toBe(80 * MIB);
    expect((await answerOf(client)).status).toBe(413);
    client.socket.end();
    await waitFor(() => client.isClosed());
    expect(client.error()).toBeUndefined();
  });

  it("goes on with its connection after a short body, of which nothing becomes a request", async () => {
    const client = await openRawClient(test.gateway.port);
    const body = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10);
    client.socket.write(head(JSON_TYPE, `Content-Length: ${body.length}`));
    expect((await answerOf(client)).head).toMatch(/\r\nConnection: keep-alive/);
    client.socket.write(body);
    client.socket.write("GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await waitFor(() => client.isEnded());
    const statuses = [...client.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).toEqual(["401", "404"]);
  });

  it.each(["a length", "chunks"])(
    "gets no answer to what it sends after a connection's last: body with %s",
    async (how) => {
      const client = await openRawClient(test.gateway.port);
      const length = how === "chunks" ? "Transfer-Encoding: chunked" : `Content-Length: ${2 * MIB}`;
      client.socket.write(head(JSON_TYPE, length));
      await answerOf(client);
      await waitFor(() => client.isEnded());
      const body = " ".repeat(2 * MIB);
      client.socket.write(
        how === "chunks" ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body,
      );
      const path = "/seen-never";
      client.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: never\r\n\r\n`);
      client.socket.end();
      await waitFor(() => client.isClosed());
      expect(client.error()).toBeUndefined();
      expect(client.received().match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(test.logLines.some((line) => line["requestId"] === "never")).toBe(false);
    },
  );

  it("keeps the order of answers when it is refused behind other requests", async () => {
    const client = await openRawClient(test.gateway.port);
    const get = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    client.socket.write(get + get + head(JSON_TYPE, LONG));
    await waitFor(() => client.isEnded());
    const statuses = [...client.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).toEqual(["200", "200", "401"]);
  });

  describe("and asks first (Expect: 100-continue)", () => {
    const expectContinue = "Expect: 100-continue";

    it.each([
      ["401", 401, () => head(JSON_TYPE, LONG, expectContinue)],
      ["413", 413, () => head(JSON_TYPE, LONG, expectContinue, key())],
      ["404", 404, () => head(JSON_TYPE, LONG, expectContinue).replace("/workflows", "/nothing")],
      ["a short body", 401, () => head(JSON_TYPE, "Content-Length: 5", expectContinue)],
    ] as const)("is not asked for a body that is refused: %s", async (_what, status, request) => {
      const client = await openRawClient(test.gateway.port);
      client.socket.write(request());
      const answer = await answerOf(client);
      expect(answer.status).toBe(status);
      expect(answer.head).toMatch(/\r\nConnection: close/);
      expect(client.received()).not.toContain("100 Continue");
      await waitFor(() => client.isEnded());
    });

    it("is asked for one that is read, and then answered", async () => {
      const client = await openRawClient(test.gateway.port);
      client.socket.write(head(JSON_TYPE, "Content-Length: 2", key(), expectContinue));
      await waitFor(() => client.received() === "HTTP/1.1 100 Continue\r\n\r\n");
      client.socket.write("[]");
      await waitFor(() => client.received().includes("HTTP/1.1 400 "));
      expect(client.received()).toContain("Connection: keep-alive");
    });
  });

  describe("and ends its side", () => {
    it("is answered when its request is complete", async () => {
      const client = await openRawClient(test.gateway.port);
      client.socket.end(`${head(JSON_TYPE, "Content-Length: 2")}{}`);
      expect((await answerOf(client)).status).toBe(401);
      await waitFor(() => client.isClosed());
    });

    it("is answered although its body is not complete", async () => {
      const client = await openRawClient(test.gateway.port);
      client.socket.end(`${head(JSON_TYPE, LONG)}{`);
      expect((await answerOf(client)).status).toBe(401);
      await waitFor(() => client.isClosed());
      expect(client.error()).toBeUndefined();
    });

    it("is told so when the body was wanted", async () => {
      const client = await openRawClient(test.gateway.port);
      client.socket.end(`${head(JSON_TYPE, "Content-Length: 5", key())}{`);
      expect((await answerOf(client)).status).toBe(400);
      expect(client.received()).toContain("The request body ended early.");
      await waitFor(() => client.isClosed());
    });

    it("has its upload refused the same way", async () => {
      const client = await openRawClient(test.gateway.port);
      const request = head("Content-Type: text/csv", "Content-Length: 2000000", key());
      client.socket.end(
        `${request.replace("/workflows", "/tables/import?format=csv&name=a")}a,b\n1,2`,
      );
      expect((await answerOf(client)).status).toBe(400);
      await waitFor(() => client.isClosed());
    });
  });
});
