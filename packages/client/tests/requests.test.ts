import { getEventListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  connect,
  createClient,
  getRunStep,
  InvalidAnswerError,
  InvalidParameterError,
  isApiError,
} from "@workflow/client";
import type { ApiOptions, ResponseInfo, Trigger, WorkflowClient } from "@workflow/client";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";

const manifest = z
  .object({ version: z.string() })
  .parse(JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")));

const KEY = "wfk_0123456789abcdefghijklmnopqrstuv";

let answer: DoubleHandler;
let double: HttpDouble;
let client: WorkflowClient;

beforeEach(async () => {
  answer = () => ({ body: { success: true, data: {} } });
  double = await startHttpDouble((request, response) => answer(request, response));
  client = createClient({ baseUrl: `${double.url}/api/v1/`, apiKey: KEY });
});

afterEach(() => double.close());

describe("a request", () => {
  test("carries the key, says who sends it, and encodes what its path is made of", async () => {
    await getRunStep(connect({ baseUrl: double.url, apiKey: KEY }), "run/1", "loop1[2].child");
    expect(double.requests[0]).toMatchObject({
      path: "/runs/run%2F1/steps/loop1%5B2%5D.child",
      headers: {
        "x-api-key": KEY,
        "user-agent": `workflow-client/${manifest.version} node/${process.versions.node}`,
      },
    });
  });

  test.each(["", ".", ".."])("with the id %j is not sent: it would be another one", async (id) => {
    const failure = await client.apiKeys.revoke(id).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure).toMatchObject({
      name: "InvalidParameterError",
      parameter: "keyId",
      message: "keyId must be a text that is not empty.",
    });
    expect(double.requests).toHaveLength(0);
  });

  test("with half of a character in an id is not sent", async () => {
    const failure = new InvalidParameterError("id", "must not hold half of a character.");
    await expect(client.runs.get("run\ud800")).rejects.toThrow(failure);
    expect(double.requests).toHaveLength(0);
  });

  test("sends back what was read with a change, by spread", async () => {
    const trigger = { type: "schedule", cron: "0 6 * * *", timezone: "UTC" };
    answer = () => ({ body: { success: true, data: { id: "w", name: "W", steps: [], trigger } } });
    const read = await client.workflows.get("w");
    // The types allow it as well, whatever starts the workflow.
    const copy: Trigger = { ...read.trigger };
    await client.workflows.update("w", { trigger: { ...copy, owner: "Ada" } });
    if (copy.type === "schedule") {
      await client.workflows.update("w", { trigger: { ...copy, enabled: false } });
    }
    expect(double.requests.slice(1).map(({ body }) => JSON.parse(body))).toEqual([
      { trigger: { ...trigger, owner: "Ada" } },
      { trigger: { ...trigger, enabled: false } },
    ]);
  });

  test("takes If-Match, and headers of its own go before the client's", async () => {
    const patient = createClient({
      baseUrl: double.url,
      headers: { traceparent: "general", "x-request-id": "general" },
    });
    const headers = { "x-request-id": "special" };
    await patient.workflows.update("w", { name: "New" }, { ifMatch: '"3"', headers });
    expect(double.requests[0]?.headers).toMatchObject({
      "if-match": '"3"',
      "x-request-id": "special",
      traceparent: "general",
    });
  });

  test("leaves out what is undefined, and the body where there is none", async () => {
    answer = () => ({ body: { success: true, data: [] } });
    await client.runs.list({ status: undefined, limit: 5 });
    await client.workflows.activate("w");
    expect(double.requests[0]?.path).toBe("/api/v1/runs?limit=5");
    expect(double.requests[1]).toMatchObject({ body: "" });
    expect(double.requests[1]?.headers).not.toHaveProperty("content-type");
  });

  test("of a CSV file is sent as such", async () => {
    await client.tables.import("name\nAda\n", { query: { name: "People", format: "csv" } });
    expect(double.requests[0]).toMatchObject({
      path: "/api/v1/tables/import?name=People&format=csv",
      headers: { "content-type": "text/csv" },
      body: "name\nAda\n",
    });
  });

  test("goes through the fetch that the caller has", async () => {
    const seen: string[] = [];
    const own = createClient({
      baseUrl: double.url,
      apiKey: KEY,
      fetch: (url, init) => {
        seen.push(url.href);
        return fetch(url, init);
      },
    });
    await own.runs.get("run_1");
    expect(seen).toEqual([`${double.url}/runs/run_1`]);
  });
});

test("what an answer says beside its data can be had", async () => {
  const headers = { etag: '"3"', "x-request-id": "request-1" };
  answer = () => ({ headers, body: { success: true, data: {} } });
  const seen: ResponseInfo[] = [];
  await client.workflows.get("w", { onResponse: (response) => seen.push(response) });
  expect(seen).toMatchObject([{ status: 200, requestId: "request-1" }]);
  expect(seen[0]?.headers.get("etag")).toBe('"3"');
});

test("what a caller's onResponse throws is not taken for a broken connection", async () => {
  const onResponse = (): void => {
    throw new RangeError("Mine.");
  };
  await expect(client.workflows.get("w", { onResponse })).rejects.toThrow(RangeError);
  expect(double.requests).toHaveLength(1);
});

test("a file comes as a stream", async () => {
  answer = () => ({ headers: { "content-type": "text/csv" }, body: "name\nAda\n" });
  const file = await client.rows.export("t", { format: "csv" });
  await expect(new Response(file).text()).resolves.toBe("name\nAda\n");
});

test("a page in place of a file is refused", async () => {
  answer = () => ({ headers: { "content-type": "text/html" }, body: "<h1>Sign in</h1>" });
  const exporting = client.rows.export("t", { format: "csv" });
  await expect(exporting).rejects.toBeInstanceOf(InvalidAnswerError);
});

test("a file that was read or cancelled leaves nothing on the caller's signal", async () => {
  answer = () => ({ headers: { "content-type": "text/csv" }, body: "name\nAda\n" });
  const { signal } = new AbortController();
  const read = await client.rows.export("t", { format: "csv" }, { signal });
  await new Response(read).text();
  const cancelled = await client.rows.export("t", { format: "csv" }, { signal });
  await cancelled.cancel();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("an error", () => {
  test("has all that the service says", async () => {
    const details = [{ path: ["steps", "0"], message: "is required" }];
    const error = { code: "VALIDATION_ERROR", message: "Wrong.", details, requestId: "request-1" };
    answer = () => ({
      status: 400,
      headers: { "retry-after": "7" },
      body: { success: false, error },
    });
    const failure = await client.runs.get("r").catch((reason: unknown) => reason);
    expect(failure).toMatchObject({
      name: "ApiError",
      status: 400,
      retryAfterMs: 7_000,
      attempts: 1,
      ...error,
    });
    expect(isApiError(failure) && failure.problems).toEqual(details);
    expect(isApiError(failure, "VALIDATION_ERROR") && failure.details[0]?.path).toEqual([
      "steps",
      "0",
    ]);
    expect(isApiError(failure, "NOT_FOUND")).toBe(false);
    expect(isApiError(new Error("VALIDATION_ERROR"))).toBe(false);
  });

  test("has no problems where the service names none", async () => {
    const error = { code: "CONFLICT", message: "Taken.", details: { name: 1 }, requestId: "r" };
    answer = () => ({ status: 409, body: { success: false, error } });
    await expect(client.runs.get("r")).rejects.toMatchObject({ problems: [] });
  });
});

describe("the key", () => {
  test("shows in nothing that is logged", async () => {
    answer = (_, response) => void response.destroy();
    const failure = await client.runs
      .get("r", { maxRetries: 0 })
      .catch((reason: unknown) => reason);
    const api = connect({ baseUrl: double.url, apiKey: KEY });
    for (const thing of [client, client.runs, api, failure]) {
      const shown = [
        inspect(thing, { depth: 20, showHidden: true }),
        String(thing),
        JSON.stringify(thing),
      ];
      expect(shown.join()).not.toContain(KEY);
    }
  });

  const wrong: [string, ApiOptions][] = [
    ["a line break in it", { baseUrl: "http://localhost", apiKey: `${KEY}\n` }],
    ["a password in the address", { baseUrl: `http://me:${KEY}@localhost` }],
    ["an address that is none", { baseUrl: `localhost/${KEY}` }],
    ["a query in the address", { baseUrl: `http://localhost?key=${KEY}` }],
    ["an address of another kind", { baseUrl: `ftp://localhost/${KEY}` }],
    ["a header that cannot be sent", { baseUrl: "http://localhost", headers: { x: `${KEY}\n\0` } }],
  ];
  test.each(wrong)("does not show in the refusal of %s", (_, options) => {
    expect(() => connect(options)).toThrow(TypeError);
    expect(() => connect(options)).not.toThrow(KEY);
  });
});
