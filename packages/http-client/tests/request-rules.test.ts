import { afterAll, describe, expect, it } from "@jest/globals";

import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer } from "./support/servers.ts";

const client = createLocalClient();
afterAll(() => client.close());

/** Never reached by a request that is refused. */
const NOWHERE = "http://127.0.0.1:1/";

describe("headers that the caller may not set", () => {
  it.each([
    "Connection",
    "content-length",
    "Expect",
    "Host",
    "HTTP2-Settings",
    "keep-alive",
    "Proxy-Authorization",
    "proxy-anything",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
  ])("%s", async (name) => {
    const error = await failureOf(client.request(get(NOWHERE, { headers: { [name]: "s3cret" } })));
    expect(error).toMatchObject({ code: "INVALID_REQUEST", sent: false });
    expect(error.message).toContain(name);
    expect(error.message).not.toContain("s3cret");
  });
});

describe("headers that are not valid HTTP are refused without being quoted", () => {
  it.each([
    ["a line feed", "x-value", "s3cret\nx-smuggled: 1"],
    ["a carriage return", "x-value", "s3cret\r"],
    ["a NUL", "x-value", "s3cret\0"],
    ["a character beyond Latin-1", "x-value", "s3cret ✓"],
    ["a line feed in the name", "x-name\ns3cret: 1", "1"],
    ["a colon in the name", "authorization: s3cret", "1"],
    ["a space in the name", "x s3cret", "1"],
    ["an empty name", "", "s3cret"],
  ])("%s", async (_what, name, value) => {
    const error = await failureOf(client.request(get(NOWHERE, { headers: { [name]: value } })));
    expect(error).toMatchObject({ code: "INVALID_REQUEST", sent: false });
    expect(error.message).not.toContain("s3cret");
  });

  it("a name given twice", async () => {
    const headers = { "X-Key": "1", "x-key": "2" };
    expect((await failureOf(client.request(get(NOWHERE, { headers })))).code).toBe(
      "INVALID_REQUEST",
    );
  });
});

describe("methods and limits", () => {
  it.each(["CONNECT", "trace", "TRACK", "", "GET /x", "G\nET"])(
    "method %j is refused",
    async (method) => {
      expect((await failureOf(client.request(get(NOWHERE, { method })))).code).toBe(
        "INVALID_REQUEST",
      );
    },
  );

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: 1.5 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 31 },
    { maxResponseBytes: -1 },
    { maxResponseBytes: Infinity },
    { followRedirects: -1 },
  ])("%j is refused", async (limits) => {
    expect((await failureOf(client.request(get(NOWHERE, limits)))).code).toBe("INVALID_REQUEST");
  });

  it("a body over maxRequestBytes is refused, one of exactly that size is sent", async () => {
    await using server = await startServer((request, response) => request.pipe(response));
    const post = (body: string) =>
      client.request(get(`${server.origin}/`, { method: "POST", body, maxRequestBytes: 6 }));
    expect((await post("äöü")).body.toString()).toBe("äöü");
    expect(await failureOf(post("äöü!"))).toMatchObject({ code: "INVALID_REQUEST", sent: false });
    expect(server.connections()).toBe(1);
  });
});

describe("what is sent", () => {
  it("is method, path, query, headers and body as given, with defaults for the rest", async () => {
    await using server = await startServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method, url, headers } = request;
        const body = Buffer.concat(chunks).toString();
        response.end(JSON.stringify({ method, url, headers, body }));
      });
    });
    const response = await client.request({
      ...get(`${server.origin}/ä b?q=ü&r#f`),
      method: "patch",
      headers: { "X-Latin": "café", "Content-Type": "text/plain" },
      body: Buffer.from("hello"),
    });
    expect(JSON.parse(response.body.toString())).toEqual({
      method: "PATCH",
      url: "/%C3%A4%20b?q=%C3%BC&r",
      headers: {
        host: `127.0.0.1:${server.port}`,
        connection: "keep-alive",
        "user-agent": "workflow-service",
        accept: "*/*",
        "accept-encoding": "gzip, deflate, br",
        "x-latin": "café",
        "content-type": "text/plain",
        "content-length": "5",
      },
      body: "hello",
    });
  });

  it("lets the caller replace the defaults", async () => {
    await using server = await startServer((request, response) => {
      response.end(`${request.headers["user-agent"]} ${request.headers.accept}`);
    });
    const headers = { "User-Agent": "mine", Accept: "text/csv" };
    const response = await client.request(get(`${server.origin}/`, { headers }));
    expect(response.body.toString()).toBe("mine text/csv");
  });

  it("carries content-length 0 for a POST without a body", async () => {
    await using server = await startServer((request, response) => {
      response.end(request.headers["content-length"]);
    });
    const response = await client.request(get(`${server.origin}/`, { method: "POST" }));
    expect(response.body.toString()).toBe("0");
  });
});
