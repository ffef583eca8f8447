import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { waitFor } from "@workflow/testkit";
import { API_BASE, ROUTES } from "../src/service.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

describe("the HTTP surface", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    test.backends.calls.length = 0;
    test.backends.workflows.getWorkflow = async () => makeWorkflow();
  });

  const path = `${API_BASE}/workflows/${WORKFLOW_ID}`;

  /** Sends bytes and returns everything that comes back until the connection ends. */
  async function sendRaw(text: string): Promise<string> {
    const socket = connect(test.gateway.port, "127.0.0.1");
    let received = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      received += chunk;
    });
    await once(socket, "connect");
    socket.write(text);
    await once(socket, "close");
    return received;
  }

  function expectEnvelope(raw: string, status: number, code: string): void {
    const [head = "", body = ""] = raw.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/\r\nLink: .*rel="api-catalog"/);
    const requestId = /\r\nX-Request-Id: (\S+)/.exec(head)?.[1];
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code, requestId } });
  }

  describe("every response", () => {
    const answers: [string, string, string, Parameters<typeof call>[3], number][] = [
      ["200", "GET", path, {}, 200],
      ["401", "GET", path, { key: null }, 401],
      ["404 of a route", "GET", `${API_BASE}/nothing`, {}, 404],
      ["404 outside the API", "GET", "/", {}, 404],
      ["405", "PATCH", path, {}, 405],
      ["400", "GET", `${API_BASE}/runs?limit=0`, {}, 400],
      ["413", "POST", `${API_BASE}/workflows`, { body: Buffer.alloc(1024 * 1024 + 1, 32) }, 413],
      [
        "415",
        "POST",
        `${API_BASE}/workflows`,
        { body: "x", headers: { "content-type": "a/b" } },
        415,
      ],
      ["livez", "GET", "/livez", { key: null }, 200],
      ["readyz", "GET", "/readyz", { key: null }, 200],
    ];

    it.each(answers)(
      "carries Link and the request's id: %s",
      async (_what, method, target, options, status) => {
        const headers = { "x-request-id": "abc.DEF-1_2", ...options?.headers };
        const answer = await call(test, method, target, { ...options, headers });
        expect(answer.status).toBe(status);
        expect(answer.headers.get("link")).toBe(
          '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json", ' +
            '</api/v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1", ' +
            '</docs>; rel="service-doc"; type="text/html"',
        );
        expect(answer.headers.get("x-request-id")).toBe("abc.DEF-1_2");
        expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
        expect(answer.headers.get("cache-control")).toBe("no-store");
        expect(answer.headers.has("x-powered-by")).toBe(false);
        if (status >= 400) {
          expect(answer.body).toMatchObject({
            success: false,
            error: { requestId: "abc.DEF-1_2" },
          });
        }
      },
    );

    it.each(["", "has space", "ä", "x".repeat(129)])(
      "gets an id of its own when the caller's is not usable: %j",
      async (given) => {
        const raw = await sendRaw(
          `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: ${given}\r\n\r\n`,
        );
        expect(/\r\nX-Request-Id: (\S+)/.exec(raw)?.[1]).toMatch(/^[0-9a-f-]{36}$/);
      },
    );

    it("has a HEAD form with the headers of GET and no body", async () => {
      const head = await call(test, "HEAD", path);
      const get = await call(test, "GET", path);
      expect(head.status).toBe(200);
      expect(head.text).toBe("");
      expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
      expect(head.headers.has("link")).toBe(true);
    });
  });

  describe("routing", () => {
    it("answers an unknown route with 404 and a wrong method with 405, before asking for a key", async () => {
      const unknown = await call(test, "GET", `${API_BASE}/workflow`, { key: null });
      expect(unknown.status).toBe(404);
      expect(unknown.body).toMatchObject({ error: { code: "NOT_FOUND" } });
      const wrong = await call(test, "DELETE", `${API_BASE}/workflows`, { key: null });
      expect(wrong.status).toBe(405);
      expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
      expect(wrong.body).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
    });

    it("declares a scope, a bucket and a summary for each route", () => {
      for (const route of ROUTES) {
        const access = expect.stringMatching(/^(?:\w+:\w+|session|everybody)$/);
        expect([route.path, route.scope]).toEqual([route.path, access]);
        expect(["read", "write", "execute"]).toContain(route.bucket);
        expect(route.bucket === "read").toBe(route.method === "GET");
        expect(route.summary).not.toBe("");
        expect(Object.keys(route.params)).toEqual(
          [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        );
      }
    });

    it("answers a path that cannot be decoded with 401 to strangers and 400 to others", async () => {
      for (const id of ["%zz", "%ff", "%ED%A0%80"]) {
        const target = `${API_BASE}/workflows/${id}`;
        expect((await call(test, "GET", target, { key: null })).status).toBe(401);
        const answer = await call(test, "GET", target);
        expect(answer.status).toBe(400);
        expect(answer.body).toMatchObject({
          error: { code: "BAD_REQUEST", details: [{ path: ["path"] }] },
        });
      }
    });

    it("refuses NUL characters in a path, naming the parameter", async () => {
      const answer = await call(test, "GET", `${API_BASE}/workflows/a%00b`);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: { details: [{ path: ["id"] }] } });
      expect(test.backends.calls).toEqual([]);
    });
  });

  describe("query strings", () => {
    it.each([
      ["limit=0", "limit"],
      ["limit=101", "limit"],
      ["limit=10abc", "limit"],
      ["limit=1e2", "limit"],
      ["limit=", "limit"],
      ["limit=-1", "limit"],
      ["limit=5.0", "limit"],
      ["limit=0x10", "limit"],
      ["limit=10&limit=10", "limit"],
      ["limit[]=10", "limit[]"],
      ["status=runing", "status"],
      ["status=", "status"],
      ["triggerType=cron", "triggerType"],
      ["createdAfter=yesterday", "createdAfter"],
      ["createdBefore=2026-02-30T00:00:00Z", "createdBefore"],
      ["tag=a%00b", "tag"],
      ["tag=%ff", "tag"],
      ["tag=%", "tag"],
    ])("are refused with the parameter's name: %s", async (query, name) => {
      const answer = await call(test, "GET", `${API_BASE}/runs?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        error: { code: "BAD_REQUEST", details: [{ path: [name], message: expect.any(String) }] },
      });
      expect(test.backends.calls).toEqual([]);
    });

    it("report all problems at once", async () => {
      const answer = await call(test, "GET", `${API_BASE}/runs?limit=x&status=y&triggerType=z`);
      expect(answer.body).toMatchObject({
        error: { details: expect.arrayContaining([expect.anything(), expect.anything()]) },
      });
      expect(JSON.stringify(answer.body)).toMatch(
        /limit.*status.*triggerType|status.*triggerType.*limit/,
      );
    });
  });

  describe("what is not readable HTTP", () => {
    it("is answered in the envelope", async () => {
      expectEnvelope(await sendRaw("NOT HTTP\r\n\r\n"), 400, "BAD_REQUEST");
    });

    it("is answered with 431 when the headers are too large", async () => {
      const text = `GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(200_000)}\r\n\r\n`;
      expectEnvelope(await sendRaw(text), 431, "HEADERS_TOO_LARGE");
    });

    it("is a head of more than 32 KiB, where the route has no use for it", async () => {
      const get = async (target: string, more: string) =>
        sendRaw(
          `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Api-Key: ${test.company.apiKey}\r\n${more}\r\n`,
        );
      const padding = (length: number) => `X-Long: ${"a".repeat(length)}\r\n`;
      expect(await get(path, padding(30_000))).toMatch(/^HTTP\/1.1 200 /);
      expectEnvelope(await get(path, padding(33_000)), 431, "HEADERS_TOO_LARGE");
      expectEnvelope(await get(`${path}?a=${"a".repeat(33_000)}`, ""), 431, "HEADERS_TOO_LARGE");
      const half = `${path}?a=${"a".repeat(16_500)}`;
      expectEnvelope(await get(half, padding(16_500)), 431, "HEADERS_TOO_LARGE");
      expect(test.backends.calls).toHaveLength(1);
    });

    it("is a head of more than 32 KiB beside the filter that an older route of tables takes", async () => {
      const rows = `${API_BASE}/tables/x/rows?filter=${"a".repeat(150_000)}`;
      const get = (more: string) =>
        sendRaw(`GET ${rows} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`);
      expectEnvelope(await get(""), 401, "UNAUTHORIZED");
      const padding = `X-Long: ${"a".repeat(33_000)}\r\n`;
      expectEnvelope(await get(padding), 431, "HEADERS_TOO_LARGE");
    });

    it("is answered after other requests on the same connection", async () => {
      const text = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
      const socket = connect(test.gateway.port, "127.0.0.1");
      let received = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString();
      });
      socket.write(text);
      await waitFor(() => received.includes('"ok"'));
      received = "";
      socket.write("NOT HTTP\r\n\r\n");
      await once(socket, "close");
      expectEnvelope(received, 400, "BAD_REQUEST");
    });

    it("includes an expectation that nobody can meet", async () => {
      const raw = await sendRaw(
        "GET /livez HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n",
      );
      expect(raw).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nLink: /);
    });

    it("includes a request without Host", async () => {
      const raw = await sendRaw("GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n");
      expectEnvelope(raw, 400, "BAD_REQUEST");
    });
  });

  it("hands a valid traceparent on and drops another", async () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await call(test, "GET", path, { headers: { traceparent } });
    expect(test.backends.calls.at(-1)?.context.traceparent).toBe(traceparent);
    await call(test, "GET", path, { headers: { traceparent: "00-x" } });
    expect(test.backends.calls.at(-1)?.context.traceparent).toBeUndefined();
  });

  it("cancels a read at the service when the client goes away", async () => {
    let isCancelled = false;
    test.backends.workflows.getWorkflow = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          isCancelled = true;
          reject(new AppError("UNAVAILABLE", "cancelled"));
        });
      });
    const leaving = new AbortController();
    const request = fetch(test.url + path, {
      headers: { "x-api-key": test.company.apiKey },
      signal: leaving.signal,
    });
    await waitFor(() => test.backends.calls.length > 0);
    leaving.abort();
    await expect(request).rejects.toThrow();
    await waitFor(() => isCancelled);
  });

  it("logs one line a request, without credentials and query strings", async () => {
    await call(test, "GET", `${API_BASE}/runs?cursor=my-cursor&limit=x`, {
      headers: { "x-request-id": "logged-1" },
    });
    const lines = await waitFor(() => {
      const found = test.logLines.filter((line) => line["requestId"] === "logged-1");
      return found.length > 0 ? found : null;
    });
    expect(lines).toEqual([
      expect.objectContaining({
        requestId: "logged-1",
        company: test.company.companyId,
        method: "GET",
        route: "/runs",
        status: 400,
        code: "BAD_REQUEST",
        durationMs: expect.any(Number),
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/wfk_|my-cursor/);
  });

  it("measures requests by the template of their route", async () => {
    await call(test, "GET", path);
    await waitFor(async () =>
      (await test.registry.metrics()).includes('method="GET",route="/workflows/{id}",status="200"'),
    );
  });
});
