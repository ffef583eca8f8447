import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { API_BASE, ROUTES } from "../src/service.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeRun, makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `${API_BASE}/workflows/${WORKFLOW_ID}`;
const APP = "https://app.example.com";
const WORKFLOW_ETAG = '"3-1-active"';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway({
    corsOrigins: [APP, "http://localhost:3000"],
    trustedProxies: ["127.0.0.0/8"],
  });
});
afterAll(() => test.close());
beforeEach(() => {
  test.backends.calls.length = 0;
  test.backends.workflows.getWorkflow = async () => makeWorkflow();
  test.backends.runs.getRun = async () => makeRun();
});

/** A workflow whose answer is longer than a kibibyte. */
const longWorkflow = async () =>
  makeWorkflow({ description: "words and words ".repeat(200), etag: WORKFLOW_ETAG });

describe("pages of the origins that the operator named", () => {
  const from = (origin: string) => ({ headers: { origin } });

  it("may read every answer, refusals included", async () => {
    const tooLarge = { ...from(APP), body: Buffer.alloc(1024 * 1024 + 1, 32) };
    for (const [method, path, options, status] of [
      ["GET", PATH, from(APP), 200],
      ["GET", PATH, { ...from(APP), key: null }, 401],
      ["GET", `${API_BASE}/nothing`, from(APP), 404],
      ["PATCH", PATH, from(APP), 405],
      ["POST", `${API_BASE}/workflows`, tooLarge, 413],
      ["GET", "/livez", from("http://localhost:3000"), 200],
    ] as const) {
      const answer = await call(test, method, path, options);
      expect([path, answer.status]).toEqual([path, status]);
      const { headers } = answer;
      expect(headers.get("access-control-allow-origin")).toBe(options.headers.origin);
      expect(headers.get("access-control-expose-headers")).toMatch(
        /ETag.*Retry-After.*X-Request-Id/,
      );
      // Cookies stay with our own pages.
      expect(headers.has("access-control-allow-credentials")).toBe(false);
      expect(headers.get("vary")).toBe("Accept-Encoding, Origin");
    }
  });

  it("are told before a request what they may send, without a key", async () => {
    const headers = {
      origin: APP,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "content-type,x-api-key,if-match",
    };
    const answer = await call(test, "OPTIONS", PATH, { key: null, headers });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, PUT, DELETE");
    expect(answer.headers.get("access-control-allow-headers")).toBe(
      "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Traceparent, X-Api-Key, X-Request-Id",
    );
    expect(Number(answer.headers.get("access-control-max-age"))).toBeGreaterThan(0);
  });

  it.each([
    "https://evil.example",
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "null",
    "*",
  ])("are not those of %s", async (origin) => {
    const preflight = { origin, "access-control-request-method": "GET" };
    for (const [method, headers] of [
      ["GET", { origin }],
      ["OPTIONS", preflight],
    ] as const) {
      const answer = await call(test, method, PATH, { headers });
      expect(answer.headers.get("vary")).toContain("Origin");
      for (const [name] of answer.headers) expect(name).not.toMatch(/^access-control-/);
    }
  });

  it("change nothing with a session, which only our own pages may", async () => {
    const { headers } = await signIn({});
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    const remove = { key: null, headers: { cookie, origin: APP } };
    const refused = await call(test, "DELETE", `${API_BASE}/auth/session`, remove);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("access-control-allow-origin")).toBe(APP);
    expect((await signIn({ origin: APP })).status).toBe(403);
    const own = { key: null, headers: { cookie, origin: test.url } };
    expect((await call(test, "DELETE", `${API_BASE}/auth/session`, own)).status).toBe(200);
  });

  const signIn = (headers: Record<string, string>) =>
    call(test, "POST", `${API_BASE}/auth/session`, {
      key: null,
      headers,
      body: { email: "owner@acme.example", password: "correct horse" },
    });
});

describe("every path", () => {
  it("answers OPTIONS with 204 and its methods, to anybody", async () => {
    const methodsByPath = Map.groupBy(ROUTES, ({ path }) => path);
    for (const [path, routes] of methodsByPath) {
      const target = API_BASE + path.replaceAll(/\{\w+\}/g, "x");
      const answer = await call(test, "OPTIONS", target, { key: null });
      const allowed = answer.headers.get("allow")?.split(", ") ?? [];
      const methods = routes.map(({ method }): string => method);
      expect({ path, status: answer.status, text: answer.text }).toEqual({
        path,
        status: 204,
        text: "",
      });
      expect(allowed.filter((method) => method !== "HEAD")).toEqual([...methods, "OPTIONS"]);
    }
    for (const [path, allow] of [
      ["/livez", "GET, HEAD, OPTIONS"],
      ["/readyz", "GET, HEAD, OPTIONS"],
      [`${API_BASE}/openapi.json`, "GET, HEAD, OPTIONS"],
      ["/webhooks/stripe", "POST, OPTIONS"],
      [`/connect/${"a".repeat(43)}`, "GET, HEAD, OPTIONS"],
    ] as const) {
      const answer = await call(test, "OPTIONS", path, { key: null });
      expect([path, answer.status, answer.headers.get("allow")]).toEqual([path, 204, allow]);
    }
    expect(test.backends.calls).toEqual([]);
  });

  it("answers OPTIONS with 404 where there is nothing, and other methods with 405", async () => {
    for (const path of [`${API_BASE}/nothing`, "/nothing", "/webhooks", "/connect/x"]) {
      expect([path, (await call(test, "OPTIONS", path, { key: null })).status]).toEqual([
        path,
        404,
      ]);
    }
    expect((await call(test, "POST", "/livez", { key: null })).status).toBe(405);
  });

  it("answers HEAD as GET, and tells no length but that of GET", async () => {
    test.backends.workflows.getWorkflow = longWorkflow;
    const plain = { headers: { "accept-encoding": "identity" } };
    for (const path of [PATH, "/livez", "/readyz", `${API_BASE}/openapi.json`, "/nothing"]) {
      const head = await call(test, "HEAD", path, plain);
      const full = await call(test, "GET", path, plain);
      expect([path, head.status, head.text]).toEqual([path, full.status, ""]);
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(full.text)));
    }
    const coded = await call(test, "HEAD", PATH, { headers: { "accept-encoding": "br" } });
    expect(coded.headers.has("content-length")).toBe(false);
  });

  it("tells browsers not to guess, frame, keep or pass on anything", async () => {
    for (const [path, key] of [
      [PATH, undefined],
      [PATH, null],
      ["/livez", null],
      ["/nothing", null],
      ["/webhooks/none", null],
    ] as const) {
      const { headers } = await call(test, "GET", path, key === undefined ? {} : { key });
      expect(Object.fromEntries(headers)).toMatchObject({
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
      expect(headers.has("strict-transport-security")).toBe(false);
    }
  });

  it("holds browsers to https once they came by it", async () => {
    const headers = { "x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https" };
    const answer = await call(test, "GET", "/livez", { headers });
    expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
  });
});

describe("a longer answer", () => {
  /** What is sent, as it is sent. */
  const fetchRaw = async (
    path: string,
    headers: Record<string, string>,
  ): Promise<{ answer: IncomingMessage; bytes: Buffer }> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { headers: { "x-api-key": test.company.apiKey, ...headers } };
      get(test.url + path, options, resolve).once("error", reject);
    });
    return { answer, bytes: await buffer(answer) };
  };

  it.each([
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["*", "br"],
    ["BR;Q=0.3", "br"],
    ["identity", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["br;q=0, gzip;q=0", undefined],
    ["deflate, zstd", undefined],
    ["br;q=x", undefined],
    ["", undefined],
  ])("for those who accept %j is coded by %s", async (accepted, coding) => {
    test.backends.workflows.getWorkflow = longWorkflow;
    const { answer, bytes } = await fetchRaw(PATH, { "accept-encoding": accepted });
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(answer.headers.vary).toContain("Accept-Encoding");
    expect(answer.headers["content-length"]).toBe(String(bytes.length));
    const text = decode(bytes, coding);
    expect(JSON.parse(text)).toMatchObject({ success: true, data: { id: WORKFLOW_ID } });
    if (coding !== undefined) expect(bytes.length).toBeLessThan(text.length / 2);
  });

  it("is compressed piece by piece when it is told so", async () => {
    const output = JSON.stringify("words and words ".repeat(30_000));
    test.backends.runs.getRun = async () => makeRun({ outputJson: output });
    for (const coding of ["br", "gzip", undefined]) {
      const path = `${API_BASE}/runs/${RUN_ID}`;
      const { answer, bytes } = await fetchRaw(path, { "accept-encoding": coding ?? "identity" });
      expect(answer.headers["content-encoding"]).toBe(coding);
      expect(JSON.parse(decode(bytes, coding))).toMatchObject({
        data: { output: JSON.parse(output) },
      });
    }
  });

  it("is as it is where it fits into the packet of its head", async () => {
    const { answer } = await fetchRaw("/livez", { "accept-encoding": "br" });
    expect(answer.headers["content-encoding"]).toBeUndefined();
  });

  it("is as it is where it could show a secret", async () => {
    const answer = await call(test, "POST", `${API_BASE}/auth/api-keys`, {
      body: { name: "n".repeat(200), scopes: ["runs:read"] },
      headers: { "accept-encoding": "br, gzip" },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.has("content-encoding")).toBe(false);
    for (const { audit, method, path } of ROUTES) {
      // Nothing that is audited is compressed; where a key or a secret is shown that has to hold.
      const showsOnce = /^POST (?:\/auth\/api-keys|\/webhook-endpoints|.*\/rotate-secret)$/;
      if (showsOnce.test(`${method} ${path}`)) expect([path, audit]).not.toEqual([path, []]);
    }
  });

  it("waits for no place: when many are compressed, the rest goes out as it is", async () => {
    test.backends.workflows.getWorkflow = longWorkflow;
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => fetchRaw(PATH, { "accept-encoding": "br" })),
    );
    const texts = answers.map(({ answer, bytes }) =>
      decode(bytes, answer.headers["content-encoding"]),
    );
    expect(new Set(texts).size).toBe(1);
  });

  function decode(bytes: Buffer, coding: string | undefined): string {
    if (coding === "br") return brotliDecompressSync(bytes).toString();
    return (coding === "gzip" ? gunzipSync(bytes) : bytes).toString();
  }
});

describe("a read of one object", () => {
  const readAgain = (path: string, etag: string, headers: Record<string, string> = {}) =>
    call(test, "GET", path, { headers: { "if-none-match": etag, ...headers } });

  it("has a tag, and is 304 for who has it", async () => {
    const path = `${API_BASE}/runs/${RUN_ID}`;
    const etag = (await call(test, "GET", path)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await readAgain(path, known);
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      expect(again.headers.get("link")).toContain("api-catalog");
      expect(again.headers.has("content-type")).toBe(false);
    }
    test.backends.runs.getRun = async () => makeRun({ outputJson: '"another"' });
    const changed = await readAgain(path, etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
    expect((await readAgain(`${API_BASE}/runs/${RUN_ID}/approvals`, "*")).status).not.toBe(304);
  });

  it("has another tag for each coding, and each is good for conditions", async () => {
    test.backends.workflows.getWorkflow = longWorkflow;
    const heard: unknown[] = [];
    test.backends.workflows.updateWorkflow = async (request) => {
      heard.push(request.ifMatch);
      return makeWorkflow();
    };
    for (const [accepted, etag] of [
      ["identity", WORKFLOW_ETAG],
      ["br", '"3-1-active.br"'],
      ["gzip", '"3-1-active.gzip"'],
    ] as const) {
      const headers = { "accept-encoding": accepted };
      expect((await call(test, "GET", PATH, { headers })).headers.get("etag")).toBe(etag);
      const again = await readAgain(PATH, etag, headers);
      expect([again.status, again.headers.get("etag")]).toEqual([304, etag]);
      // The tag that the answer would have had (RFC 9110, section 15.4.5).
      const any = await readAgain(PATH, "*", headers);
      expect([any.status, any.headers.get("etag")]).toEqual([304, etag]);
      await call(test, "PUT", PATH, { body: { name: "x" }, headers: { "if-match": etag } });
    }
    expect(heard).toEqual([1, 2, 3].map(() => ({ etags: [WORKFLOW_ETAG] })));
  });
});
