import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { CreateWorkflowRequest } from "@workflow/proto/workflows/v1/workflows";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

const MIB = 1024 * 1024;

describe("request bodies", () => {
  let test: TestGateway;
  let created: CreateWorkflowRequest[];

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    created = [];
    test.backends.workflows.createWorkflow = async (request) => {
      created.push(request);
      return makeWorkflow({ ...request });
    };
    test.backends.workflows.activateWorkflow = async () => makeWorkflow();
  });

  const path = "/api/v1/workflows";
  const valid = { name: "Orders", trigger: { type: "api" }, steps: [] };

  it.each([
    ["malformed JSON", '{"name": "a",}', /position 13/],
    ["text after the end", '{"a":1} x', /position 8/],
    ["an unfinished text", '{"name": "a"', /end at position 12/],
    ["an array", "[]", /must be a JSON object/],
    ["a string", '"x"', /must be a JSON object/],
    ["null", "null", /must be a JSON object/],
    ["too many nested containers", `{"trigger":${"[".repeat(64)}${"]".repeat(64)}}`, /64/],
    ["a great many nested containers", `{"a":${"[".repeat(500_000)}`, /64/],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le"), /not valid JSON/],
    ["nothing", "", /body is required/],
  ])("are refused with 400: %s", async (_what, body, message) => {
    const answer = await call(test, "POST", path, { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: {
        code: "BAD_REQUEST",
        message: expect.stringMatching(message),
        details: [{ path: [], message: expect.any(String) }],
      },
    });
    expect(created).toEqual([]);
  });

  it.each([
    ['{"name":"a\\u0000b"}', ["name"]],
    ['{"trigger":{"list":[1,{"x":"\\ud800"}]}}', ["trigger", "list", "1", "x"]],
    ['{"steps":[{"\\udfff":1}]}', ["steps", "0", "\ufffd"]],
  ])("are refused for text that cannot be stored, with its path: %s", async (body, where) => {
    const answer = await call(test, "POST", path, { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: "BAD_REQUEST", details: [{ path: where }] },
    });
  });

  it.each([
    ["text/plain", {}],
    ["application/x-www-form-urlencoded", {}],
    ["application/json; charset=iso-8859-1", {}],
    ["application/jsonp", {}],
    ["", {}],
  ])("are refused with 415 when declared as %j", async (contentType) => {
    const answer = await call(test, "POST", path, {
      body: JSON.stringify(valid),
      headers: { "content-type": contentType },
    });
    expect(answer.status).toBe(415);
    expect(answer.body).toMatchObject({ error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });

  it.each(["application/json", "Application/JSON; charset=UTF-8", "application/merge-patch+json"])(
    "are accepted when declared as %s",
    async (contentType) => {
      const headers = { "content-type": contentType };
      expect((await call(test, "POST", path, { body: valid, headers })).status).toBe(201);
    },
  );

  it("are refused with 415 when compressed", async () => {
    const answer = await call(test, "POST", path, {
      body: gzipSync(JSON.stringify(valid)),
      headers: { "content-encoding": "gzip" },
    });
    expect(answer.status).toBe(415);
  });

  it("are not needed where everything in them is optional, nor is a content type", async () => {
    const activate = `/api/v1/workflows/${WORKFLOW_ID}/activate`;
    expect((await call(test, "POST", activate)).status).toBe(200);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await call(test, "POST", activate, { body: "", headers: form })).status).toBe(200);
    expect((await call(test, "POST", activate, { body: "{" })).status).toBe(400);
  });

  it("report every problem at once", async () => {
    const answer = await call(test, "POST", path, {
      body: { name: "", trigger: [], description: 5, settings: "x" },
    });
    expect(answer.body).toMatchObject({
      error: {
        code: "BAD_REQUEST",
        details: expect.arrayContaining([
          { path: ["name"], message: "must have 1 to 255 characters" },
          { path: ["trigger"], message: "must be an object" },
          { path: ["steps"], message: "is required" },
          { path: ["description"], message: "must be a string" },
          { path: ["settings"], message: "must be an object" },
        ]),
      },
    });
  });

  it("are refused by the length of a list of over 10,000 elements, without a look at these", async () => {
    const elements = (count: number): number[] => Array.from({ length: count }, () => 1);
    const bulk = await call(test, "POST", "/api/v1/runs/bulk", {
      body: { action: "no action", runIds: elements(10_001) },
    });
    expect(bulk.status).toBe(400);
    expect(bulk.body).toMatchObject({
      error: {
        code: "BAD_REQUEST",
        // Of the wrong action nothing is said: nobody has looked.
        details: [{ path: ["runIds"], message: "must have at most 10000 elements" }],
      },
    });
    const nested = await call(test, "POST", "/api/v1/tables", {
      body: {
        name: "",
        columns: [{ name: "a" }, { name: "b", options: elements(10_001) }],
      },
    });
    expect(nested.status).toBe(400);
    expect(nested.body).toMatchObject({
      error: { details: [{ path: ["columns", "1", "options"] }] },
    });
    const looked = await call(test, "POST", "/api/v1/runs/bulk", {
      body: { action: "no action", runIds: elements(10_000) },
    });
    expect(looked.body).toMatchObject({ error: { details: expect.any(Array) } });
    expect(looked.text).toContain('"path":["action"]');
  });

  it("pass documents on to the service and back without a change", async () => {
    const trigger = '{"type":"api","__proto__":{"x":1},"b":1.0,"9":1,"1":12345678901234567890}';
    const config = '{"mapping":{"text":"\\u00e4\\ud83d\\ude00","n":1e-400}}';
    const steps = `[ {"id":"a","type":"transform","name":"A","config":${config}} ]`;
    const body = `{"id":"mine","status":"active","version":9,"companyId":"other",
      "name":"Orders","trigger":${trigger},"steps":${steps},"inputSchema":null}`;
    const answer = await call(test, "POST", path, { body });
    expect(answer.status).toBe(201);
    expect(created).toEqual([
      {
        name: "Orders",
        description: undefined,
        triggerJson: trigger,
        stepsJson: steps,
        inputSchemaJson: undefined,
        outputSchemaJson: undefined,
        settingsJson: undefined,
      },
    ]);
    expect(answer.text).toContain(`"trigger":${trigger},"steps":${steps},"inputSchema":null`);
    expect(answer.body).toMatchObject({ data: { id: WORKFLOW_ID, status: "draft", version: 1 } });
  });

  it("may be as large as the limit and no larger", async () => {
    const padding = MIB - Buffer.byteLength(JSON.stringify({ ...valid, description: "" }));
    const fitting = JSON.stringify({ ...valid, description: "x".repeat(padding) });
    expect((await call(test, "POST", path, { body: fitting })).status).toBe(201);
    const answer = await call(test, "POST", path, { body: `${fitting} ` });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it.each(["with a length", "in chunks"])(
    "over the limit are answered even to a client that sends everything first: %s",
    async (how) => {
      const body = Buffer.alloc(20 * MIB, 0x20);
      const request = httpRequest(test.url + path, {
        method: "POST",
        headers: {
          "x-api-key": test.company.apiKey,
          "content-type": "application/json",
          ...(how === "in chunks"
            ? { "transfer-encoding": "chunked" }
            : { "content-length": body.length }),
        },
      });
      // Closed when all is sent, which may be after the answer; fails when the gateway cuts it off.
      const sent = once(request, "close");
      request.end(body);
      const [response] = await once(request, "response");
      expect(response.statusCode).toBe(413);
      response.resume();
      await sent;
    },
  );

  it("of requests without a valid key are not looked at", async () => {
    const answer = await call(test, "POST", path, { body: Buffer.alloc(5 * MIB), key: null });
    expect(answer.status).toBe(401);
  });
});
