import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { createCompany } from "../src/admin/index.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const MIB = 1024 * 1024;
const TIMEOUT_MS = 1_500;
const ACCEPTED = { received: true, eventId: "evt_1", workflowsTriggered: 1 };
const accept: DoubleHandler = () => ({ body: ACCEPTED });

let service: HttpDouble;
let handler: DoubleHandler = accept;
let test: TestGateway;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await startHttpDouble((request, response) => handler(request, response));
  test = await startTestGateway({
    webhooksHttpAddress: `127.0.0.1:${service.port}`,
    inboundTimeoutMs: TIMEOUT_MS,
    lingeringMs: 1_000,
    trustedProxies: 1,
  });
});
afterEach(() => {
  handler = accept;
  service.requests.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await test.close();
  await service.close();
});

const post = (path: string, body: unknown = "{}", headers: Record<string, string> = {}) =>
  call(test, "POST", path, { key: null, body, headers });

/** One connection on which a test says every byte itself. */
async function open(text: string): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect({ port: test.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(text);
  return { socket, received: () => received };
}

const head = (...lines: string[]): string =>
  ["POST /webhooks/stripe HTTP/1.1", "Host: hooks.example", ...lines, "", ""].join("\r\n");

const whole = (received: () => string) => waitFor(() => /\r\n\r\n.*\}$/s.test(received()));

describe("what reaches the webhooks service", () => {
  it("is the body byte by byte, the path with its query, and the sender's headers", async () => {
    const bytes = Buffer.concat([randomBytes(200_000), Buffer.from([0, 0xff, 0xfe, 0x0d, 0x0a])]);
    const answer = await post("/webhooks/stripe?a=%C3%A4&b=1%2F2", bytes, {
      "content-type": "application/json",
      "stripe-signature": "t=1,v1=00",
      "x-request-id": "from-sender",
      traceparent: "no trace",
    });
    expect(answer).toMatchObject({ status: 200, body: ACCEPTED });
    expect(answer.headers.get("x-request-id")).toBe("from-sender");
    expect(answer.headers.get("link")).toContain("api-catalog");
    const [request] = service.requests;
    expect(request?.bodyBytes.equals(bytes)).toBe(true);
    expect(request?.path).toBe("/webhooks/stripe?a=%C3%A4&b=1%2F2");
    expect(request?.headers).toMatchObject({
      "content-length": String(bytes.length),
      "stripe-signature": "t=1,v1=00",
      "x-request-id": "from-sender",
    });
    expect(request?.headers).not.toHaveProperty("traceparent");
  });

  it("is what came in chunks, of at most 1 MiB", async () => {
    for (const [size, status] of [
      [MIB, 200],
      [MIB + 1, 413],
    ] as const) {
      const body = randomBytes(size);
      const request = httpRequest(`${test.url}/webhooks/stripe`, { method: "POST" });
      for (let at = 0; at < size; at += 50_000) request.write(body.subarray(at, at + 50_000));
      request.end();
      const [response] = await once(request, "response");
      response.resume();
      expect(response.statusCode).toBe(status);
      if (status === 200) expect(service.requests[0]?.bodyBytes.equals(body)).toBe(true);
    }
    expect(service.requests).toHaveLength(1);
  });

  it("says truly where a request comes from, whatever its sender claims", async () => {
    const answer = await post("/webhooks/stripe", "{}", {
      "x-forwarded-for": "203.0.113.1, 198.51.100.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "forged.example",
      "x-forwarded-prefix": "/forged",
      forwarded: "for=203.0.113.1",
      "x-real-ip": "203.0.113.1",
      cookie: "wfs_session=hush",
      "x-api-key": "wfk_hush",
      "proxy-authorization": "Basic hush",
    });
    expect(answer.status).toBe(200);
    const { headers } = service.requests[0] ?? { headers: {} };
    expect(headers).toMatchObject({
      "x-forwarded-for": "198.51.100.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": `127.0.0.1:${test.gateway.port}`,
    });
    const text = JSON.stringify(headers);
    for (const claim of ["forged", "203.0.113.1", "hush"]) expect(text).not.toContain(claim);
  });

  it("leaves out headers that are about the sender's connection", async () => {
    const { received } = await open(
      head(
        "Connection: close, X-Hop, Content-Length",
        "X-Hop: 1",
        "TE: trailers",
        "Content-Length: 2",
      ) + "{}",
    );
    await whole(received);
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(service.requests[0]).toMatchObject({ body: "{}", headers: { "content-length": "2" } });
    expect(service.requests[0]?.headers).not.toHaveProperty("x-hop");
    expect(service.requests[0]?.headers).not.toHaveProperty("te");
  });

  it("keeps headers apart that were sent several times", async () => {
    let ids: string[] | undefined;
    handler = (_request, response) => {
      ids = response.req.headersDistinct["x-event-id"];
      return { body: ACCEPTED };
    };
    const { received } = await open(
      head("X-Event-Id: a", "Connection: close", "X-Event-Id: b", "Content-Length: 2") + "{}",
    );
    await whole(received);
    expect(ids).toEqual(["a", "b"]);
  });

  it("is one connection for requests one after the other", async () => {
    const ports = new Set<number | undefined>();
    handler = (_request, response) => {
      ports.add(response.socket?.remotePort);
      return { body: ACCEPTED };
    };
    for (let sent = 0; sent < 5; sent += 1) await post("/webhooks/stripe");
    expect(ports.size).toBe(1);
  });
});

describe("what the service answers", () => {
  it("reaches the sender with its status, and nothing of its connection", async () => {
    handler = () => ({
      status: 401,
      headers: { "retry-after": "7", "x-internal": "1", link: "<inside>" },
      body: { error: "Invalid signature" },
    });
    const answer = await post("/webhooks/stripe");
    expect(answer).toMatchObject({ status: 401, body: { error: "Invalid signature" } });
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(answer.headers.get("x-internal")).toBeNull();
    expect(answer.headers.get("link")).not.toContain("inside");
  });

  it("is 503 when there is none", async () => {
    handler = (_request, response) => void response.destroy();
    const broken = await post("/webhooks/stripe");
    expect(broken).toMatchObject({ status: 503, body: { error: expect.any(String) } });
    expect(broken.headers.get("retry-after")).toBe("1");
  });

  it("is 504 when it does not come in time", async () => {
    handler = () => new Promise(() => {});
    expect(await post("/webhooks/stripe")).toMatchObject({
      status: 504,
      body: { error: expect.any(String) },
    });
  });
});

describe("a sender", () => {
  it.each(["GET", "HEAD", "PUT", "DELETE"])("of %s is told to use POST", async (method) => {
    const answer = await fetch(`${test.url}/webhooks/stripe`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST, OPTIONS");
    if (method !== "HEAD") expect(await answer.json()).toEqual({ error: "Use POST here." });
    expect(service.requests).toEqual([]);
  });

  it.each([
    ["/webhooks", 404],
    ["/webhooks/", 404],
    ["/webhooks//", 404],
    ["/webhooks/%ff", 400],
    ["/webhooks/stripe/%", 400],
  ])("of %s is answered {error} with %d", async (path, status) => {
    expect(await post(path)).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(service.requests).toEqual([]);
  });

  it("that announces too much is refused before it sends", async () => {
    const { received } = await open(head(`Content-Length: ${MIB + 1}`, "Expect: 100-continue"));
    await whole(received);
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(received()).toContain('{"error":"The request body must be at most 1048576 bytes."}');
  });

  it("that waits for a sign to send gets it", async () => {
    const { socket, received } = await open(head("Content-Length: 2", "Expect: 100-continue"));
    await waitFor(() => received().startsWith("HTTP/1.1 100 Continue"));
    socket.write("{}");
    await waitFor(() => received().includes("HTTP/1.1 200 "));
    expect(service.requests[0]?.headers).not.toHaveProperty("expect");
  });

  it("that ends its side after the body is answered", async () => {
    const { socket, received } = await open(head("Content-Length: 2"));
    socket.end("{}");
    await whole(received);
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("that ends its side within the body is told so, and the service sees no event", async () => {
    const { socket, received } = await open(head("Content-Length: 10"));
    socket.end("{");
    await whole(received);
    expect(received()).toMatch(/^HTTP\/1\.1 400 .*The request body ended early/s);
    expect(service.requests).toEqual([]);
  });

  it("that stops within the body is told so in time, and holds no place after that", async () => {
    const { received } = await open(head("Content-Length: 10") + "{");
    await whole(received);
    expect(received()).toMatch(/^HTTP\/1\.1 408 .*did not arrive in time/s);
    expect(service.requests).toEqual([]);
  });

  it("that goes away is forgotten", async () => {
    const { socket } = await open(head("Content-Length: 10") + "{");
    socket.resetAndDestroy();
    await waitFor(() => test.logLines.some(({ disconnected }) => disconnected === true));
    expect((await post("/webhooks/stripe")).status).toBe(200);
  });

  it("with headers of more than 32 KiB is refused", async () => {
    const answer = await post("/webhooks/stripe", "{}", { "x-much": "a".repeat(40_000) });
    expect(answer).toMatchObject({ status: 431, body: { error: expect.any(String) } });
  });

  it("with more requests under way than a client may have is told to come again", async () => {
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    handler = async () => {
      await released;
      return { body: ACCEPTED };
    };
    const slow = Array.from({ length: 128 }, () => post("/webhooks/stripe"));
    await waitFor(() => service.requests.length === 128);
    const refused = await post("/webhooks/stripe");
    expect(refused).toMatchObject({ status: 429, body: { error: expect.any(String) } });
    expect(refused.headers.get("retry-after")).toBe("1");
    const other = await post("/webhooks/custom/x", "{}", { "x-forwarded-for": "198.51.100.8" });
    expect(other.status).toBe(404);
    release?.();
    for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
  });
});

describe("the route of a company", () => {
  it("takes webhooks of a company from the moment when it is there", async () => {
    const { companyId } = await createCompany(test.database, {
      name: "New",
      email: "owner@new.example",
      password: "correct horse",
    });
    const path = `/webhooks/custom/${companyId}/Orders.New`;
    expect(await post(path)).toMatchObject({ status: 200, body: ACCEPTED });
    expect(service.requests[0]?.path).toBe(path);
    const line = await waitFor(() =>
      test.logLines.find(({ company, msg }) => company === companyId && msg === "request"),
    );
    // The path is the secret.
    expect(line).toMatchObject({ route: "/webhooks/custom/{companyId}/{path}", status: 200 });
    expect(JSON.stringify(test.logLines)).not.toContain("Orders.New");
  });

  it.each(["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a", "no-id", ""])(
    "that is not there answers 404: %s",
    async (id) => {
      const answer = await post(`/webhooks/custom/${id}/orders`);
      expect(answer).toMatchObject({ status: 404, body: { error: "Company not found" } });
      expect(service.requests).toEqual([]);
    },
  );

  it("holds one connection for all unknown ids, and known ones need none", async () => {
    const known = `/webhooks/custom/${test.company.companyId}/orders`;
    await post(known);
    const admin = await openDatabase({
      connectionUri: test.databaseUri,
      maxConnections: 1,
      applicationName: "test",
      onError: () => {},
    });
    const ids = Array.from({ length: 100 }, () => newUuid());
    const { answers } = await admin.transaction(async (transaction) => {
      await transaction.query(sql.type(nothing)`lock table gateway.companies`);
      const asked = ids.map((id) => post(`/webhooks/custom/${id}/orders`));
      await waitFor(async () => (await countWaiting(transaction)) > 0);
      expect((await post(known)).status).toBe(200);
      expect(await countWaiting(transaction)).toBe(1);
      return { answers: asked };
    });
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(404);
    await admin.end();
  });
});

const nothing = z.object({});
const counted = z.object({ count: z.number() });

/** Connections that wait for the table. */
async function countWaiting(database: Queryable): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select count(*)::int as count
    from pg_locks
    where relation = 'gateway.companies'::regclass and not granted
  `);
  return count;
}
