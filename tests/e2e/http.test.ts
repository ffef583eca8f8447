import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { callApi } from "../support/api-client.ts";
import { readDescription } from "../support/description/description.ts";
import { createActive, createWorkflow, postRun, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

// That each answer has Link, a request id and one of the two envelopes is expected by the client.

const MIB = 1024 * 1024;

let system: WholeSystem;
let activeId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  activeId = await createActive(system);
});
afterAll(() => system.stop());

describe("the request id (D7)", () => {
  it.each(["a", "A.b_c-9", "x".repeat(128)])("is the caller's when it is %s", async (id) => {
    for (const [path, status] of [
      ["/workflows", 200],
      ["/workflows/none", 404],
      ["/nowhere", 404],
    ] as const) {
      const answer = await system.call("GET", path, { headers: { "x-request-id": id } });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-request-id")).toBe(id);
    }
  });

  it.each(["", "a b", "a/b", "x".repeat(129), "<script>"])(
    "is made when the caller's is %j",
    async (id) => {
      const answer = await system.call("GET", "/workflows", { headers: { "x-request-id": id } });
      expect(answer.headers.get("x-request-id")).not.toBe(id);
    },
  );

  it("is made anew for each request", async () => {
    const [one, two] = await Promise.all([
      system.call("GET", "/workflows"),
      system.call("GET", "/workflows"),
    ]);
    expect(one.headers.get("x-request-id")).not.toBe(two.headers.get("x-request-id"));
  });
});

describe("the description of the API", () => {
  const ask = (headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${system.origin}/api/v1/openapi.json`, { method, headers });

  it("is the file of the sources, for everybody, of the type that Link announces", async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    const type = "application/vnd.oai.openapi+json;version=3.1";
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("link")).toContain(type);
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    const { document } = await readDescription();
    expect(await response.json()).toEqual(document);
    expect(document).toMatchObject({ openapi: "3.1.1", info: { version: "1.0.0" } });
  });

  it.each(["br", "gzip", "identity"])(
    "is sent as %s, and not again to who has it",
    async (coding) => {
      const headers = {
        "accept-encoding": coding === "identity" ? coding : `${coding}, identity;q=0`,
      };
      const response = await ask(headers);
      await response.arrayBuffer();
      expect(response.headers.get("content-encoding")).toBe(coding === "identity" ? null : coding);
      const etag = response.headers.get("etag") ?? "";
      const again = await ask({ ...headers, "if-none-match": etag });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      const head = await ask(headers, "HEAD");
      expect(head.headers.get("content-length")).toBe(response.headers.get("content-length"));
      expect([head.status, await head.text()]).toEqual([200, ""]);
    },
  );

  it("is read only", async () => {
    const response = await ask({}, "POST");
    await response.text();
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

describe("routing", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/nowhere"],
    ["POST", "/workflows/x/y/z"],
    ["GET", "/Workflows"],
    ["GET", "/workflows//runs"],
    ["DELETE", "/runs/x/y"],
  ])("answers %s %s, which is no route, with 404", async (method, path) => {
    const answer = await system.call(method, path);
    expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it.each([
    ["PATCH", "/workflows", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/workflows/x", "GET, HEAD, PUT, DELETE, OPTIONS"],
    ["GET", "/workflows/x/activate", "POST, OPTIONS"],
    ["PUT", "/runs", "GET, HEAD, OPTIONS"],
    ["DELETE", "/runs/x", "GET, HEAD, OPTIONS"],
  ])("answers %s %s with 405 and what is allowed", async (method, path, allow) => {
    const answer = await system.call(method, path);
    expect(answer).toMatchObject({ status: 405, error: { code: "METHOD_NOT_ALLOWED" } });
    expect(answer.headers.get("allow")).toBe(allow);
  });

  it("answers outside of the API in the same envelope", async () => {
    const answer = await callApi(`${system.origin}/api/v2/workflows`, "GET", {});
    expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it("answers HEAD as GET without the body", async () => {
    for (const path of ["/workflows", `/workflows/${activeId}`, "/runs", "/workflows/none"]) {
      // What is packed on its way has no length beforehand.
      const headers = { "accept-encoding": "identity" };
      const get = await system.call("GET", path, { headers });
      const head = await system.call("HEAD", path, { headers });
      expect(head.status).toBe(get.status);
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(get.text)));
    }
    expect((await system.call("HEAD", "/workflows", { key: null })).status).toBe(401);
  });
});

describe("a path or a query", () => {
  it.each(["/workflows/%", "/workflows/%zz", "/runs/%C3%28/logs", "/workflows/%ED%A0%80/run"])(
    "that cannot be decoded is 400: %s",
    async (path) => {
      const method = path.endsWith("/run") ? "POST" : "GET";
      const answer = await system.call(method, path);
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      const anonymous = await system.call(method, path, { key: null });
      expect(anonymous).toMatchObject({ status: 401, error: { code: "UNAUTHORIZED" } });
    },
  );

  it.each([
    "/workflows?search=%zz",
    "/workflows?search=%C3%28",
    "/workflows?%=1",
    "/workflows?search=%00",
  ])("that cannot be decoded or stored is 400: %s", async (path) => {
    const answer = await system.call("GET", path);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  });

  it.each(["/workflows/%00", "/runs/run_%00/logs"])("with a NUL is 400 (D2): %s", async (path) => {
    const answer = await system.call("GET", path);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  });

  it.each(["limit=1&limit=1", "limit[]=1", "limit[gt]=1", "status=draft&status=active"])(
    "that gives a parameter more than one value is 400: ?%s",
    async (query) => {
      const answer = await system.call("GET", `/workflows?${query}`);
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    },
  );

  it("takes + and %20 as a space", async () => {
    const { id } = await createWorkflow(system, { name: "two words" });
    for (const search of ["two+words", "two%20words"]) {
      const answer = await system.call("GET", `/workflows?search=${search}`);
      expect(answer).toMatchObject({ status: 200, data: [{ id }] });
    }
  });
});

describe("a body", () => {
  const post = (raw: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    system.call("POST", "/workflows", { raw, headers });
  const refused = { status: 400, error: { code: "BAD_REQUEST" } };
  const good = JSON.stringify(workflowBody());

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/vnd.api+json",
  ])("may be of the type %s", async (type) => {
    expect((await post(good, { "content-type": type })).status).toBe(201);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json; charset=latin1",
    "",
  ])("must not be of the type %j", async (type) => {
    const answer = await post(good, { "content-type": type });
    expect(answer).toMatchObject({ status: 415, error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });

  it("must not be compressed", async () => {
    const answer = await post(good, { "content-encoding": "gzip" });
    expect(answer).toMatchObject({ status: 415, error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });

  it.each([
    "",
    " ",
    "{",
    '{"a":1,}',
    "{'a':1}",
    "null",
    "[]",
    '"text"',
    "5",
    "NaN",
    `${good}x`,
    '{"a":01}',
    '{"a":"\n"}',
    '\ufeff{"name"',
  ])("must be one JSON object: %j", async (raw) => {
    expect(await post(raw)).toMatchObject(refused);
  });

  it("must be UTF-8", async () => {
    expect(await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatchObject(
      refused,
    );
  });

  it("must not hold NUL or lone surrogates, in values or keys, escaped or not (D2)", async () => {
    for (const text of ["\\u0000", "\\ud800", "\\udc00\\ud800"]) {
      expect(await post(good.replace("Greeting", text))).toMatchObject(refused);
      expect(await post(good.replace('"text":', `"${text}":`))).toMatchObject(refused);
      const run = await system.call("POST", `/workflows/${activeId}/run`, {
        raw: `{"input":{"a":["${text}"]}}`,
      });
      expect(run).toMatchObject(refused);
    }
  });

  it("may nest 64 containers, and no more (D2)", async () => {
    // The body, input and its member take three of them.
    const nested = (depth: number) =>
      `{"input":{"a":${"[".repeat(depth - 2)}${"]".repeat(depth - 2)}}}`;
    const path = `/workflows/${activeId}/run`;
    expect((await system.call("POST", path, { raw: nested(64) })).status).toBe(202);
    expect(await system.call("POST", path, { raw: nested(65) })).toMatchObject(refused);
    expect(await system.call("POST", path, { raw: nested(500_000) })).toMatchObject(refused);
    expect((await system.call("GET", "/workflows")).status).toBe(200);
  });

  it("with a key twice counts the last, as JSON.parse does", async () => {
    const answer = await post(good.replace("{", '{"name":"First",'));
    expect(answer).toMatchObject({ status: 201, data: { name: "Greeting" } });
  });

  it("cannot reach into the prototypes of the server", async () => {
    const raw = good.replace(
      "{",
      '{"__proto__":{"status":"active","polluted":true},"constructor":{"prototype":{"polluted":1}},',
    );
    expect(await post(raw)).toMatchObject({ status: 201, data: { status: "draft" } });
    expect(
      (await post('{"__proto__":{"name":"x","trigger":{"type":"api"},"steps":[]}}')).status,
    ).toBe(400);
    expect("polluted" in {}).toBe(false);
  });

  it("of a GET or DELETE is not looked at", async () => {
    const { id } = await createWorkflow(system);
    const answer = await system.call("DELETE", `/workflows/${id}`, { raw: "{nonsense" });
    expect(answer.status).toBe(200);
  });
});

describe("a body's size (D4)", () => {
  const padded = (fixed: string, bytes: number) =>
    fixed + " ".repeat(bytes - Buffer.byteLength(fixed));

  it("may be 1 MiB, and not a byte more", async () => {
    const body = JSON.stringify(workflowBody());
    expect((await system.call("POST", "/workflows", { raw: padded(body, MIB) })).status).toBe(201);
    const over = await system.call("POST", "/workflows", { raw: padded(body, MIB + 1) });
    expect(over).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
    const put = await system.call("PUT", `/workflows/${activeId}`, { raw: padded("{}", MIB + 1) });
    expect(put).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("may be 2 MiB for a start, with an input of 1 MiB", async () => {
    const path = `/workflows/${activeId}/run`;
    const inputOf = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
    const send = (raw: string) => system.call("POST", path, { raw });
    const tooLarge = { status: 413, error: { code: "PAYLOAD_TOO_LARGE" } };
    expect((await send(`{"input":${inputOf(MIB)}}`)).status).toBe(202);
    expect(await send(`{"input":${inputOf(MIB + 1)}}`)).toMatchObject(tooLarge);
    expect((await send(padded("{}", 2 * MIB))).status).toBe(202);
    expect(await send(padded("{}", 2 * MIB + 1))).toMatchObject(tooLarge);
  });

  it("is measured as it comes when it was not announced", async () => {
    const answer = await sendChunked(`${system.origin}/api/v1/workflows`, system.acme.key, 2 * MIB);
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("does not keep others from being served", async () => {
    const large = system.call("POST", "/workflows", { raw: padded("{}", 30 * MIB) });
    expect((await postRun(system, activeId)).status).toBe(202);
    expect((await large).status).toBe(413);
  });
});

describe("health", () => {
  it.each(["/livez", "/readyz"])("%s answers 200 without a key (D55)", async (path) => {
    const answer = await callApi(system.origin + path, "GET", {});
    expect(answer.status).toBe(200);
  });
});

function sendChunked(
  url: string,
  key: string,
  bytes: number,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const request = httpRequest(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject);
    for (let sent = 0; sent < bytes; sent += 65_536) request.write(Buffer.alloc(65_536, " "));
    request.end();
  });
}
