import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { createApiKey } from "../src/admin/index.ts";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const MIB = 1024 * 1024;
const PATH = "/api/v1/workflows";
/** What a system says on a connection that was cut: the answer may be lost with it. */
const CUT = ["ECONNRESET", "EPIPE"];

/** A program that posts 10 MB with urllib and with http.client, and prints the statuses it reads. */
const PYTHON = `
import http.client, sys, urllib.error, urllib.request
port, path, tries = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
body = b" " * 10_000_000
headers = {"content-type": "application/json", "x-api-key": "wfk_wrong"}
for _ in range(tries):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        error.read()
        print("urllib", error.code)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    print("http.client", answer.status)
`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

const run = promisify(execFile);

/** One connection on which a test says every byte itself. */
interface RawClient {
  socket: Socket;
  received: () => string;
  /** The server has ended its side. */
  isEnded: () => boolean;
  isClosed: () => boolean;
  error: () => string | undefined;
}

describe("a client that still sends when it is answered", () => {
  let test: TestGateway;
  let readingKey: string;
  const sockets: Socket[] = [];

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
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => test.close());

  async function open(port = test.gateway.port): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    let received = "";
    let isEnded = false;
    let isClosed = false;
    let code: string | undefined;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (received += chunk));
    socket.on("end", () => (isEnded = true));
    socket.on("close", () => (isClosed = true));
    socket.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
    await once(socket, "connect");
    return {
      socket,
      received: () => received,
      isEnded: () => isEnded,
      isClosed: () => isClosed,
      error: () => code,
    };
  }

  function head(...lines: string[]): string {
    return ["POST /api/v1/workflows HTTP/1.1", "Host: x", ...lines, "", ""].join("\r\n");
  }

  /** Waits for a whole answer with a JSON body. */
  async function answerOf(client: RawClient): Promise<{ status: number; head: string }> {
    return waitFor(() => {
      const [head = "", body = ""] = client.received().split("\r\n\r\n");
      const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1] ?? Infinity);
      if (body.length < length) return null;
      expect(JSON.parse(body.slice(0, length))).toHaveProperty("error.code");
      return { status: Number(head.split(" ")[1]), head };
    });
  }

  /** Sends until that is over; resolves to the number of bytes that were taken. */
  async function sendOn({ socket }: RawClient, bytes: number): Promise<number> {
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    let sent = 0;
    while (sent < bytes && !socket.destroyed && socket.writable) {
      await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
      sent += chunk.length;
    }
    return sent;
  }

  /** Sends on until so many are left, and counts them. */
  async function countLeft(clients: readonly RawClient[], expected: number): Promise<number> {
    const left = (): number => clients.filter((client) => !client.isClosed()).length;
    await waitFor(() => {
      for (const { socket } of clients) if (socket.writable) socket.write(" ");
      return left() <= expected;
    });
    return left();
  }

  const json = "Content-Type: application/json";
  const key = () => `X-Api-Key: ${test.company.apiKey}`;
  const long = `Content-Length: ${10 * MIB}`;

  const refusals: [string, number, () => string][] = [
    ["401", 401, () => head(json, long)],
    ["403", 403, () => head(json, long, `X-Api-Key: ${readingKey}`)],
    ["413", 413, () => head(json, long, key())],
    ["400", 400, () => head(json, long).replace("Host: x\r\n", "")],
    ["404", 404, () => head(json, long).replace("/workflows", "/nothing")],
    ["405", 405, () => head(json, long).replace("POST", "PATCH")],
    [
      "415 of an upload",
      415,
      () =>
        head("Content-Type: multipart/form-data; boundary=x", long, key()).replace(
          "/workflows",
          "/tables/import?format=csv",
        ),
    ],
    [
      "400 of an upload",
      400,
      () =>
        head("Content-Type: text/csv", long, key()).replace(
          "/workflows",
          "/tables/import?format=tsv",
        ),
    ],
    ["413 of chunks", 413, () => head(json, "Transfer-Encoding: chunked", key())],
    ["401 over HTTP/1.0", 401, () => head(json, long).replace("HTTP/1.1", "HTTP/1.0")],
    ["401 that was to close", 401, () => head(json, long, "Connection: close")],
    ["404 of a GET with a body", 404, () => head(json, long, key()).replace("POST /api", "GET /b")],
  ];

  /** Sends a request with 10 MiB behind it, and takes the refusal that comes meanwhile. */
  async function expectRefusal(request: string, status: number): Promise<void> {
    const client = await open();
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
    await expectRefusal(head(json, long).replace("/workflows", "/auth/session"), 429);
  });

  it("is answered at once, not only when it has sent everything", async () => {
    const client = await open();
    client.socket.write(head(json, long));
    expect((await answerOf(client)).status).toBe(401);
    await waitFor(() => client.isEnded());
    expect(client.isClosed()).toBe(false);
  });

  it("is cut off after 64 MiB", async () => {
    const client = await open();
    client.socket.write(head(json, `Content-Length: ${1024 * MIB}`));
    const sent = await sendOn(client, 1024 * MIB);
    expect(sent).toBeGreaterThan(64 * MIB);
    expect(sent).toBeLessThan(128 * MIB);
    await waitFor(() => client.isClosed());
    expect(CUT).toContain(client.error());
    expect((await answerOf(client)).status).toBe(401);
  });

  it("is cut off after 10 seconds, however slowly it sends, and whatever it says of its length", async () => {
    const [slow, short] = await Promise.all([open(), open()]);
    slow.socket.write(head(json, long));
    short.socket.write(`${head(json, "Content-Length: 1000")}{`);
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
    const client = await open();
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
    const client = await open();
    const body = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10);
    client.socket.write(head(json, `Content-Length: ${body.length}`));
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
      const client = await open();
      const length = how === "chunks" ? "Transfer-Encoding: chunked" : `Content-Length: ${2 * MIB}`;
      client.socket.write(head(json, length));
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
    const client = await open();
    const get = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    client.socket.write(get + get + head(json, long));
    await waitFor(() => client.isEnded());
    const statuses = [...client.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).toEqual(["200", "200", "401"]);
  });

  describe("and asks first (Expect: 100-continue)", () => {
    const expectContinue = "Expect: 100-continue";

    it.each([
      ["401", 401, () => head(json, long, expectContinue)],
      ["413", 413, () => head(json, long, expectContinue, key())],
      ["404", 404, () => head(json, long, expectContinue).replace("/workflows", "/nothing")],
      ["a short body", 401, () => head(json, "Content-Length: 5", expectContinue)],
    ] as const)("is not asked for a body that is refused: %s", async (_what, status, request) => {
      const client = await open();
      client.socket.write(request());
      const answer = await answerOf(client);
      expect(answer.status).toBe(status);
      expect(answer.head).toMatch(/\r\nConnection: close/);
      expect(client.received()).not.toContain("100 Continue");
      await waitFor(() => client.isEnded());
    });

    it("is asked for one that is read, and then answered", async () => {
      const client = await open();
      client.socket.write(head(json, "Content-Length: 2", key(), expectContinue));
      await waitFor(() => client.received() === "HTTP/1.1 100 Continue\r\n\r\n");
      client.socket.write("[]");
      await waitFor(() => client.received().includes("HTTP/1.1 400 "));
      expect(client.received()).toContain("Connection: keep-alive");
    });
  });

  describe("and ends its side", () => {
    it("is answered when its request is complete", async () => {
      const client = await open();
      client.socket.end(`${head(json, "Content-Length: 2")}{}`);
      expect((await answerOf(client)).status).toBe(401);
      await waitFor(() => client.isClosed());
    });

    it("is answered although its body is not complete", async () => {
      const client = await open();
      client.socket.end(`${head(json, long)}{`);
      expect((await answerOf(client)).status).toBe(401);
      await waitFor(() => client.isClosed());
      expect(client.error()).toBeUndefined();
    });

    it("is told so when the body was wanted", async () => {
      const client = await open();
      client.socket.end(`${head(json, "Content-Length: 5", key())}{`);
      expect((await answerOf(client)).status).toBe(400);
      expect(client.received()).toContain("The request body ended early.");
      await waitFor(() => client.isClosed());
    });

    it("has its upload refused the same way", async () => {
      const client = await open();
      const request = head("Content-Type: text/csv", "Content-Length: 2000000", key());
      client.socket.end(
        `${request.replace("/workflows", "/tables/import?format=csv&name=a")}a,b\n1,2`,
      );
      expect((await answerOf(client)).status).toBe(400);
      await waitFor(() => client.isClosed());
    });
  });

  describe("in great numbers", () => {
    /** Longer than the slowest machine takes to count those that are waited for. */
    const lingeringMs = 300_000;

    it("is one of 32 from its address that are waited for; the others are cut off", async () => {
      const many = await startTestGateway({ lingeringMs });
      try {
        const clients = await Promise.all(
          Array.from({ length: 100 }, () => open(many.gateway.port)),
        );
        for (const { socket } of clients) socket.write(head(json, long));
        await waitFor(() => clients.every((client) => client.isEnded()));
        for (const client of clients) expect(client.received()).toMatch(/^HTTP\/1\.1 401 /);
        expect(await countLeft(clients, 32)).toBe(32);
        // A place is free again when its client has gone.
        const [waiting] = clients.filter((client) => !client.isClosed());
        waiting?.socket.end();
        await waitFor(() => waiting?.isClosed());
        const next = await open(many.gateway.port);
        next.socket.write(head(json, long));
        await waitFor(() => next.isEnded());
        expect(await sendOn(next, 10 * MIB)).toBe(10 * MIB);
        next.socket.end();
        await waitFor(() => next.isClosed());
        expect(next.error()).toBeUndefined();
      } finally {
        await many.close();
      }
    });

    it("is one of 32 from its network and of 512 in all", async () => {
      const proxied = await startTestGateway({ trustedProxies: 1, lingeringMs });
      try {
        // 24 networks of IPv6, from each 30 addresses.
        const clients = await Promise.all(
          Array.from({ length: 720 }, async (_, index) => {
            const address = `2001:db8:0:${(index % 24).toString(16)}::${index.toString(16)}`;
            const client = await open(proxied.gateway.port);
            client.socket.write(head(json, long, `X-Forwarded-For: ${address}`));
            return client;
          }),
        );
        await waitFor(() => clients.every((client) => client.isEnded()), { timeoutMs: 90_000 });
        expect(await countLeft(clients, 512)).toBe(512);
        for (const { socket } of clients) socket.destroy();
        const ofOne = await Promise.all(
          Array.from({ length: 40 }, async (_, index) => {
            const client = await open(proxied.gateway.port);
            const address = `X-Forwarded-For: 2001:db8:1:1::${index.toString(16)}`;
            client.socket.write(head(json, long, address));
            return client;
          }),
        );
        await waitFor(() => ofOne.every((client) => client.isEnded()));
        expect(await countLeft(ofOne, 32)).toBe(32);
      } finally {
        await proxied.close();
      }
    });

    it("is not waited for by a gateway that stops", async () => {
      const [stopping, staying] = await Promise.all([
        startTestGateway(),
        startTestGateway({ lingeringMs }),
      ]);
      const elsewhere = await open(staying.gateway.port);
      elsewhere.socket.write(head(json, long));
      await waitFor(() => elsewhere.isEnded());
      const client = await open(stopping.gateway.port);
      client.socket.write(head(json, long));
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

  it("reads it with Node's client, on a connection that may be kept as on one that may not", async () => {
    for (const keepAlive of [true, false]) {
      const agent = new Agent({ keepAlive });
      for (let round = 0; round < 5; round += 1) {
        const request = httpRequest(test.url + PATH, {
          method: "POST",
          agent,
          headers: { "content-type": "application/json", "content-length": 10 * MIB },
        });
        request.on("error", () => {});
        request.end(Buffer.alloc(10 * MIB, 0x20));
        const [response]: IncomingMessage[] = await once(request, "response");
        expect(response?.statusCode).toBe(401);
        response?.resume();
        if (response !== undefined) await once(response, "end");
      }
      agent.destroy();
    }
  });

  (hasPython ? it : it.skip)("reads it 20 times of 20 with Python", async () => {
    const port = String(test.gateway.port);
    const { stdout } = await run("python3", ["-c", PYTHON, port, PATH, "20"], {
      timeout: 120_000,
    });
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(40);
    expect(new Set(lines)).toEqual(new Set(["urllib 401", "http.client 401"]));
  });

  describe("with curl", () => {
    let folder: string;
    let file: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "lingering-"));
      file = join(folder, "body");
      await writeFile(file, Buffer.alloc(10_000_000, 0x20));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    (hasCurl ? it : it.skip).each([
      ["401", ["-H", "Content-Type: application/json"], PATH],
      ["413", ["-H", "Content-Type: application/json", "-H", "KEY"], PATH],
      ["413", ["-H", "Content-Type: application/json", "-H", "KEY", "-H", "Expect:"], PATH],
      [
        "413",
        ["-H", "Content-Type: application/json", "-H", "KEY", "-H", "Transfer-Encoding: chunked"],
        PATH,
      ],
      ["415", ["-H", "Content-Type: text/plain", "-H", "KEY"], "/api/v1/tables/import?format=csv"],
      ["415", ["-F", "file=@BODY", "-H", "KEY"], "/api/v1/tables/import?format=csv"],
    ])("reads it: %s %j", async (status, options, path) => {
      const filled = options.map((option) => option.replace("KEY", key()).replace("BODY", file));
      const body = options.includes("-F") ? [] : ["--data-binary", `@${file}`];
      const { stdout } = await run("curl", [
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code} %{errormsg}",
        ...filled,
        ...body,
        test.url + path,
      ]);
      expect(stdout).toBe(`${status} `);
    });
  });
});
