import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { createActive, delay, listRuns, transform, waitForFirstRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const answer = z.object({
  result: z
    .looseObject({
      isError: z.boolean().optional(),
      content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).optional(),
    })
    .optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

async function post(
  body: string,
  headers: Record<string, string> = {},
  origin = system.origin,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(new URL("/mcp", origin), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "x-api-key": system.acme.key,
      ...headers,
    },
    body,
  });
  const text = (await response.text()).replace(/^event: message\ndata: /, "");
  return { status: response.status, headers: response.headers, text };
}

async function rpc(method: string, paramsJson: string, headers: Record<string, string> = {}) {
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${paramsJson}}`;
  return answer.parse(JSON.parse((await post(body, headers)).text));
}

function call(name: string, argumentsJson = "{}", headers: Record<string, string> = {}) {
  return rpc("tools/call", `{"name":"${name}","arguments":${argumentsJson}}`, headers);
}

function createTool(name: string, changes: Record<string, unknown>): Promise<string> {
  const settings = { mcp: { name, description: "A tool." } };
  return createActive(system, { settings, ...changes });
}

const echo = { steps: [transform("echo", "{{input}}")] };

describe("a call", () => {
  it("ends for itself alone, also when many come together", async () => {
    await createTool("fast", echo);
    await createTool("slow", { steps: [delay("sleep", 2_000), transform("out", "slept")] });
    const calls = Array.from({ length: 40 }, (_, index) => call(index % 2 === 0 ? "fast" : "slow"));
    const answers = await Promise.all(calls);
    expect(answers.filter(({ result }) => result?.isError === true)).toEqual([]);
    expect(answers.every(({ result }) => result?.content?.length === 2)).toBe(true);
  });

  it("gives its run the arguments as they were sent, and the output as it is", async () => {
    const id = await createTool("exact", echo);
    const json = '{"a":1.0,"b":12345678901234567890,"c":-0,"d":1E5}';
    await call("exact", json);
    const runId = await waitForFirstRun(system, id);
    expect((await system.call("GET", `/runs/${runId}`)).text).toContain(`"input":${json}`);
  });

  it("whose client has gone leaves its run alone", async () => {
    const id = await createTool("left", { steps: [delay("sleep", 500), transform("out", "done")] });
    const leaving = new AbortController();
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"left","arguments":{}}}';
    const asked = fetch(new URL("/mcp", system.origin), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-api-key": system.acme.key,
      },
      body,
      signal: leaving.signal,
    });
    await waitForFirstRun(system, id);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect(runStatus(id, "completed")).resolves.toBe("completed");
  });

  it("with an output that is too long says so, and where the run is", async () => {
    const steps = [transform("double", { a: "{{input.text}}", b: "{{input.text}}" })];
    await createTool("long", { steps: [...steps, transform("again", { c: "{{steps.double}}" })] });
    const { result } = await call("long", JSON.stringify({ text: "x".repeat(400_000) }));
    expect(result).not.toHaveProperty("isError");
    await createTool("longer", {
      steps: [
        ...["one", "two", "three"].map((id) => transform(id, "{{input.text}}")),
        { ...transform("all", null), type: "parallel", config: { branches: branchesOf(3) } },
      ],
    });
    const long = await call("longer", JSON.stringify({ text: "x".repeat(500_000) }));
    expect(long.result).toMatchObject({
      content: [
        { type: "text", text: expect.stringContaining("too long to be shown") },
        { type: "resource_link", uri: expect.stringContaining("workflow://runs/run_") },
      ],
    });
    expect(long.result).not.toHaveProperty("isError");
  });

  it("of a workflow with an output schema may go on, for the protocol's own client as well", async () => {
    const outputSchema = { type: "object", properties: { text: { type: "string" } } };
    const id = await createTool("typed", { steps: [delay("sleep", 3_600_000)], outputSchema });
    const gateway = await system.startGateway();
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", gateway.origin), {
      authProvider: { token: async () => system.acme.key },
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    await client.listTools();
    const calling = client.callTool({ name: "typed", arguments: {} });
    await waitForFirstRun(system, id);
    const [result] = await Promise.all([calling, gateway.stop()]);
    expect(result.content.at(1)).toMatchObject({ type: "resource_link" });
    await client.close();
  });

  it("does not heed an idempotency key of the request", async () => {
    const id = await createTool("keyed", echo);
    for (const n of [1, 2]) {
      const headers = { "idempotency-key": "same" };
      const { result } = await call("keyed", `{"n":${n}}`, headers);
      expect(result?.content?.[0]?.text).toBe(`{"n":${n}}`);
    }
    expect((await listRuns(system, `/workflows/${id}/runs`)).items).toHaveLength(2);
  });

  it("tells nothing of tools to a key that may run none", async () => {
    await createTool("hidden", echo);
    const key = await system.createKey(system.acme, ["runs:read"]);
    const texts = await Promise.all(
      ["hidden", "nothing"].map(async (name) => {
        const { result } = await call(name, "{}", { "x-api-key": key });
        return result?.content?.[0]?.text?.replaceAll(/"requestId":"[^"]*"/g, "");
      }),
    );
    expect(texts[0]).toContain("FORBIDDEN");
    expect(texts[1]).toBe(texts[0]);
  });
});

describe("requests that cannot be read", () => {
  it("count like those that can", async () => {
    const gateway = await system.startGateway({
      rateLimits: { limits: { read: 5, write: 5, execute: 5 } },
    });
    try {
      const statuses: number[] = [];
      for (const body of ["{", "[]", "", "{}", '"x"', "{"]) {
        const { status, headers } = await post(body, {}, gateway.origin);
        statuses.push(status);
        expect(headers.get("x-ratelimit-limit")).toBe("5");
      }
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    } finally {
      await gateway.stop();
    }
  });
});

describe("pages of other origins", () => {
  it("are let in where the operator named them, without cookies", async () => {
    const gateway = await system.startGateway({ corsOrigins: ["https://app.example"] });
    try {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      const named = await post(body, { origin: "https://app.example" }, gateway.origin);
      const other = await post(body, { origin: "https://evil.example" }, gateway.origin);
      expect([named.status, other.status]).toEqual([200, 403]);
      expect(named.headers.get("cache-control")).toBe("no-store");
    } finally {
      await gateway.stop();
    }
  });
});

describe("wrong parameters", () => {
  it.each([
    ["tools/list", '{"cursor":5}', "params.cursor must be a string"],
    ["tools/call", '{"arguments":{}}', "params.name is required"],
    ["tools/call", '{"name":"exact","arguments":[]}', "params.arguments must be an object"],
    ["resources/read", '{"uri":7}', "params.uri must be a string"],
    ["resources/list", '{"cursor":[]}', "params.cursor must be a string"],
    ["resources/templates/list", '{"cursor":true}', "params.cursor must be a string"],
  ])("of %s %s are told by field, as the caller's mistake", async (method, params, message) => {
    const { error } = await rpc(method, params);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(message),
      data: { code: "VALIDATION_ERROR", requestId: expect.any(String) },
    });
    expect(error?.message).not.toMatch(/[{[]/);
  });

  it("of the protocol's own methods show no schema either", async () => {
    const { error } = await rpc("initialize", '{"protocolVersion":5}');
    expect(error?.message).not.toMatch(/[{[]|invalid_type/);
  });
});

describe("a page of tools", () => {
  it("ends early where the schemas are large", async () => {
    const { key } = system.globex;
    for (let number = 0; number < 5; number += 1) {
      const description = "x".repeat(number === 4 ? 250_000 : 200_000);
      const inputSchema = { type: "object", properties: { text: { type: "string", description } } };
      const settings = { mcp: { name: `large_${number}`, description: "A tool." } };
      await createActive(system, { inputSchema, settings }, { key });
    }
    const sizes: number[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const params = JSON.stringify(cursor === "" ? {} : { cursor });
      const { result } = await rpc("tools/list", params, { "x-api-key": key });
      const page = z
        .object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })
        .parse(result);
      sizes.push(page.tools.length);
      cursor = page.nextCursor;
    }
    expect(sizes).toEqual([2, 2, 1]);
  });
});

describe("resources", () => {
  it("come in pages where there are many tables", async () => {
    const { key } = system.globex;
    for (let batch = 0; batch < 21; batch += 1) {
      const tables = Array.from({ length: 10 }, (_, index) =>
        system.call("POST", "/tables", { key, body: { name: `Table ${batch * 10 + index}` } }),
      );
      await Promise.all(tables);
    }
    const page = async (params: string) => {
      const { result } = await rpc("resources/list", params, { "x-api-key": key });
      return pageSchema.parse(result);
    };
    const first = await page("{}");
    const second = await page(JSON.stringify({ cursor: first.nextCursor }));
    expect([first.resources.length, second.resources.length]).toEqual([200, 10]);
    expect(second.nextCursor).toBeUndefined();
    expect((await rpc("resources/list", '{"cursor":"x"}')).error?.message).toContain("cursor");
  });
});

const pageSchema = z.object({
  resources: z.array(z.object({ uri: z.string() })),
  nextCursor: z.string().optional(),
});

function branchesOf(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `branch_${index}`,
    steps: [transform(`copy_${index}`, "{{input.text}}")],
  }));
}

async function runStatus(workflowId: string, wanted: string): Promise<string> {
  for (;;) {
    const [run] = (await listRuns(system, `/workflows/${workflowId}/runs`)).items;
    if (run?.status === wanted || run?.status === "failed") return run.status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
