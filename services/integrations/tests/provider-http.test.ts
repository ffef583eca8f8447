import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { ProviderCallError } from "../src/provider-http/provider-call-error.ts";
import { createProviderHttp } from "../src/provider-http/provider-http.ts";
import type { ProviderExchange, ProviderHttp } from "../src/provider-http/provider-http.ts";

const COMPANY = "0199b000-0000-7000-8000-000000000001";

/** Answers by path, so that one server plays all kinds of providers. */
const ANSWERS: Record<string, DoubleHandler> = {
  "/json": () => ({ headers: { "x-page": "2" }, body: { ok: true } }),
  "/empty": () => ({ status: 204 }),
  "/html": () => ({ headers: { "content-type": "text/html; x=<b>" }, body: "<html>hello</html>" }),
  "/html-502": () => ({ status: 502, headers: { "content-type": "text/html" }, body: "<h1>" }),
  "/broken": () => ({ headers: { "content-type": "application/json" }, body: '{"a": ' }),
  "/binary": () => ({ body: Buffer.from([0xff, 0xfe, 0x00]) }),
  "/deep": () => ({ body: "[".repeat(5_000) + "]".repeat(5_000) }),
  "/bomb": () => ({
    headers: { "content-encoding": "gzip" },
    body: gzipSync(Buffer.alloc(64 * 1024 * 1024, 32)),
  }),
  "/blank": () => ({
    headers: { "content-encoding": "gzip" },
    body: gzipSync(`"${" ".repeat(1024 * 1024)}"`),
  }),
  "/moved": () => ({ status: 302, headers: { location: "/json" } }),
  "/endless": async (_, response) => {
    const piece = Buffer.alloc(256 * 1024, "[");
    response.writeHead(200, { "content-type": "application/json" });
    const isClosed = closed(response);
    while (!response.destroyed) {
      if (!response.write(piece)) await Promise.race([once(response, "drain"), isClosed]);
    }
  },
  "/hangs": async (_, response) => closed(response),
};

let server: HttpDouble;
let elsewhere: HttpDouble;
let http: ProviderHttp;

beforeAll(async () => {
  elsewhere = await startHttpDouble();
  server = await startHttpDouble((request, response) => {
    if (request.path === "/away") return { status: 302, headers: { location: elsewhere.url } };
    return ANSWERS[request.path]?.(request, response) ?? { status: 404 };
  });
  http = createProviderHttp({
    allowPrivate: false,
    settings: new Map([["stripe", { baseUrl: `${server.url}/v1` }]]),
  });
});

afterAll(async () => {
  await http.close();
  await server.close();
  await elsewhere.close();
});

function send(path: string, more: Partial<ProviderExchange> & { method?: string } = {}) {
  const { method = "GET", ...exchange } = more;
  const url = path.startsWith("/") ? server.url + path : path;
  const headers = { authorization: "Bearer canary", "x-key": "canary" };
  return http.sendProviderRequest(
    { method, url, headers, body: method === "GET" ? undefined : "{}" },
    { companyId: COMPANY, provider: "stripe", ...exchange },
  );
}

async function failureOf(call: Promise<unknown>): Promise<ProviderCallError> {
  const error: unknown = await call.then(
    (answer) => answer,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ProviderCallError) return error;
  throw new Error(`Expected a ProviderCallError, got ${JSON.stringify(error)}`);
}

function closed(response: { once(event: "close", listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => void response.once("close", resolve));
}

describe("an answer", () => {
  it("of JSON is read, with its headers in lower case", async () => {
    expect(await send("/json")).toMatchObject({
      status: 200,
      headers: { "x-page": "2" },
      body: { ok: true },
      bytes: 11,
    });
  });

  it("without a body is null", async () => {
    expect(await send("/empty", { method: "POST" })).toMatchObject({ status: 204, body: null });
  });

  it.each([
    ["/html", "The provider answered 200, but its answer is not JSON but text/html."],
    ["/broken", "The provider answered 200, but its answer is not valid JSON."],
    ["/binary", "The provider answered 200, but its answer is not valid JSON."],
    ["/deep", "The provider answered 200, but its answer is not valid JSON."],
  ])("that is no JSON fails for good: %s", async (path, message) => {
    const error = await failureOf(send(path));
    expect(error).toMatchObject({ code: "INVALID_ANSWER", status: 200, retryable: false, message });
  });

  it("of a failure in HTML keeps its status, for whoever reads failures", async () => {
    expect(await send("/html-502")).toMatchObject({ status: 502, body: null });
  });

  it.each(["/endless", "/bomb"])("beyond 4 MiB ends the call: %s", async (path) => {
    const error = await failureOf(send(path));
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", retryable: false, sent: true });
  });
});

describe("a small answer that is large once it is decoded", () => {
  it("has to wait for room like any large one", async () => {
    let bytes = 0;
    const room = {
      take: (more: number) => void (bytes += more),
      leave: () => undefined,
    };
    await send("/blank", { room });
    expect(bytes).toBeGreaterThanOrEqual(1024 * 1024);
  });
});

describe("a call", () => {
  it("of a provider that hangs ends in time", async () => {
    const error = await failureOf(send("/hangs", { timeoutMs: 1_000 }));
    expect(error).toMatchObject({ code: "TIMEOUT", retryable: true, sent: true });
  });

  it("is given up with its signal", async () => {
    const stop = new AbortController();
    const call = failureOf(send("/hangs", { signal: stop.signal }));
    stop.abort();
    expect(await call).toMatchObject({ code: "ABORTED" });
  });

  it("follows a redirect within the origin, when it only reads", async () => {
    expect(await send("/moved")).toMatchObject({ status: 200, body: { ok: true } });
    expect(await send("/moved", { method: "POST" })).toMatchObject({ status: 302 });
  });

  it("takes nothing to another origin", async () => {
    const error = await failureOf(send("/away"));
    expect(error).toMatchObject({ code: "REDIRECT_REFUSED", retryable: false });
    expect(await send("/away", { method: "POST" })).toMatchObject({ status: 302 });
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("a private address", () => {
  it("is reached only at the origin of the operator's base URL, and only for that provider", async () => {
    expect(http.baseUrlOf("stripe")).toBe(`${server.url}/v1`);
    const other = await failureOf(send(elsewhere.url));
    expect(other.retryable).toBe(false);
    expect(await failureOf(send("/json", { provider: "odoo" }))).toMatchObject({
      code: "INVALID_URL",
    });
    expect(await failureOf(send("https://127.0.0.1/json"))).toMatchObject({
      code: "ADDRESS_NOT_ALLOWED",
    });
    expect(elsewhere.requests).toEqual([]);
  });
});

it("no error repeats a credential", async () => {
  const errors = await Promise.all(
    ["/html", "/deep", "/away", "/endless", "https://127.0.0.1/"].map((path) =>
      failureOf(send(path)),
    ),
  );
  expect(errors.map(({ message }) => message).join()).not.toContain("canary");
});
