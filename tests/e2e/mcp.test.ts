import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createActive,
  createWorkflow,
  delay,
  failing,
  postRun,
  runIdOf,
  transform,
  waitForFirstRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
const clients: Client[] = [];
beforeAll(async () => {
  system = await startWholeSystem();
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => system.stop());

/** Of the protocol: the one with a handshake, and the one in which each request stands for itself. */
type Era = "legacy" | "auto";

async function connect(
  apiKey = system.acme.key,
  mode: Era = "auto",
  origin = system.origin,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", origin), {
    authProvider: { token: async () => apiKey },
  });
  const info = { name: "test", version: "1" };
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  clients.push(client);
  return client;
}

let count = 0;
function newToolName(): string {
  count += 1;
  return `tool_${count}`;
}

const inputSchema = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
};

function toolSettings(name: string) {
  return { settings: { mcp: { name, description: "Greets somebody by name." } } };
}

/** An active workflow that greets, as a tool; returns the tool's name. */
async function createTool(changes: Record<string, unknown> = {}, key?: string): Promise<string> {
  const name = newToolName();
  const body = { name: "Greeting", inputSchema, ...toolSettings(name), ...changes };
  await createActive(system, body, key === undefined ? {} : { key });
  return name;
}

/** The id of the workflow behind a tool. */
async function workflowOf(name: string): Promise<string> {
  const { data } = await system.call("GET", "/workflows?status=active&limit=100");
  const workflows = z
    .array(z.object({ id: z.string(), settings: z.looseObject({}).nullable() }))
    .parse(data);
  const found = workflows.find(({ settings }) => JSON.stringify(settings).includes(`"${name}"`));
  if (found === undefined) throw new Error(`${name} is no tool.`);
  return found.id;
}

function post(message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(new URL("/mcp", system.origin), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${system.acme.key}`,
      ...headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
}

/** The message of an answer, which is one event of a stream in the older version of the protocol. */
async function jsonOf(response: Response): Promise<unknown> {
  return JSON.parse((await response.text()).replace(/^event: message\ndata: /, ""));
}

const listed = z.object({
  result: z.object({
    tools: z.array(z.object({ name: z.string() })),
    nextCursor: z.string().optional(),
  }),
});

describe.each(["legacy", "auto"] as const)("MCP, version negotiation %s", (era) => {
  it("lists the active workflows of the company that opted in, as tools", async () => {
    const name = await createTool();
    const draft = newToolName();
    await createWorkflow(system, toolSettings(draft));
    await createActive(system);
    const foreign = await createTool({}, system.globex.key);
    const client = await connect(undefined, era);
    const { tools } = await client.listTools();
    expect(tools.find((tool) => tool.name === name)).toMatchObject({
      name,
      title: "Greeting",
      description: "Greets somebody by name.",
      inputSchema,
    });
    const names = tools.map((tool) => tool.name);
    expect(names).not.toContain(draft);
    // A name of another company may be the same as one of ours.
    expect(tools.every((tool) => tool.name.startsWith("tool_"))).toBe(true);
    expect(names.filter((each) => each === foreign)).toEqual([]);
  });

  it("runs a tool and returns the run's output, and a link to the run", async () => {
    const name = await createTool();
    const client = await connect(undefined, era);
    const result = await client.callTool({ name, arguments: { name: "Ada" } });
    expect(result).toMatchObject({
      content: [
        { type: "text", text: JSON.stringify({ text: "Hello Ada" }) },
        { type: "resource_link", uri: expect.stringMatching(/^workflow:\/\/runs\/run_/) },
      ],
      structuredContent: { text: "Hello Ada" },
    });
    const link = result.content.at(1);
    if (link?.type !== "resource_link") throw new Error("There is a link.");
    const { contents } = await client.readResource({ uri: link.uri });
    expect(contents).toHaveLength(1);
    expect(JSON.parse(String(Reflect.get(contents[0] ?? {}, "text")))).toMatchObject({
      status: "completed",
      input: { name: "Ada" },
      output: { text: "Hello Ada" },
    });
    const logs = await client.readResource({ uri: `${link.uri}/logs` });
    expect(String(Reflect.get(logs.contents[0] ?? {}, "text"))).toContain('"stepId":"greet"');
  });

  it("tells the model what was wrong with its arguments, and starts no run", async () => {
    const name = await createTool();
    const client = await connect(undefined, era);
    const result = await client.callTool({ name, arguments: { name: 7 } });
    expect(result).toMatchObject({ isError: true });
    const [text] = result.content;
    expect(JSON.parse(String(Reflect.get(text ?? {}, "text")))).toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: ["name"] }],
    });
    const { data } = await system.call("GET", `/workflows/${await workflowOf(name)}/runs`);
    expect(data).toEqual([]);
  });
});

describe("a tool", () => {
  it("whose run fails gives the failure and the run's id as an error", async () => {
    const name = await createTool({ steps: [failing("call")] });
    const client = await connect();
    const result = await client.callTool({ name, arguments: { name: "Ada" } });
    expect(result.isError).toBe(true);
    expect(JSON.parse(String(Reflect.get(result.content[0] ?? {}, "text")))).toMatchObject({
      code: "TRIGGER_ERROR",
      details: { run_id: expect.stringMatching(/^run_/), status: "failed" },
    });
  });

  it("that is not there, or of another company, is named in the error", async () => {
    const foreign = `foreign_${newToolName()}`;
    await createActive(system, toolSettings(foreign), { key: system.globex.key });
    const client = await connect();
    for (const name of ["nothing", foreign, "a\0b"]) {
      const calling = client.callTool({ name, arguments: {} });
      await expect(calling).rejects.toThrow(name === "a\0b" ? "NUL" : JSON.stringify(name));
    }
  });

  it("is gone with the activity of its workflow", async () => {
    const name = newToolName();
    const id = await createActive(system, toolSettings(name));
    const client = await connect();
    expect(await client.callTool({ name, arguments: { name: "Ada" } })).not.toHaveProperty(
      "isError",
    );
    await system.call("POST", `/workflows/${id}/pause`);
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow("no tool");
  });

  it("whose run goes on gives a link to it", async () => {
    const name = await createTool({ steps: [delay("sleep", 3_600_000)] });
    const gateway = await system.startGateway();
    const client = await connect(system.acme.key, "auto", gateway.origin);
    const calling = client.callTool({ name, arguments: { name: "Ada" } });
    const runId = await waitForFirstRun(system, await workflowOf(name));
    // Who waits when a gateway stops is answered as if the time was over.
    const [result] = await Promise.all([calling, gateway.stop()]);
    expect(result).toMatchObject({
      content: [
        { type: "text", text: expect.stringContaining("goes on in the background") },
        { type: "resource_link", uri: `workflow://runs/${runId}` },
      ],
    });
    expect(result).not.toHaveProperty("isError");
  });

  it("is listed on the next page where there are more than 100", async () => {
    const { key } = system.globex;
    for (let batch = 0; batch < 11; batch += 1) {
      await Promise.all(Array.from({ length: 10 }, () => createTool({}, key)));
    }
    const page = async (cursor?: string) => {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor } };
      return listed.parse(await jsonOf(await post(message, { authorization: `Bearer ${key}` })));
    };
    const first = (await page()).result;
    expect(first.tools).toHaveLength(100);
    const second = (await page(first.nextCursor)).result;
    expect(second.nextCursor).toBeUndefined();
    const names = [...first.tools, ...second.tools].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(110);
  });

  it("has its name alone among the active workflows of a company", async () => {
    const name = newToolName();
    const first = await createActive(system, toolSettings(name));
    const second = await createWorkflow(system, toolSettings(name));
    const taken = {
      status: 409,
      error: { code: "CONFLICT", details: [{ path: ["settings", "mcp", "name"] }] },
    };
    expect(await system.call("POST", `/workflows/${second.id}/activate`)).toMatchObject(taken);
    const other = await createActive(system, toolSettings(newToolName()));
    const body = toolSettings(name);
    expect(await system.call("PUT", `/workflows/${other}`, { body })).toMatchObject(taken);
    // Another company may have a tool of that name.
    await createActive(system, toolSettings(name), { key: system.globex.key });
    await system.call("POST", `/workflows/${first}/pause`);
    const activated = await system.call("POST", `/workflows/${second.id}/activate`);
    expect(activated).toMatchObject({ status: 200 });
  });

  it.each([
    [{ name: "two words", description: "x" }, ["settings", "mcp", "name"]],
    [{ name: "x".repeat(65), description: "x" }, ["settings", "mcp", "name"]],
    [{ name: "x" }, ["settings", "mcp", "description"]],
    [{ name: "x", description: "" }, ["settings", "mcp", "description"]],
    ["x", ["settings", "mcp"]],
  ])("is refused when it is declared wrongly: %j", async (mcp, path) => {
    const body = {
      name: "x",
      trigger: { type: "api" },
      steps: [transform("a", 1)],
      settings: { mcp },
    };
    expect(await system.call("POST", "/workflows", { body })).toMatchObject({
      status: 400,
      error: { details: [{ path }] },
    });
  });

  it("needs an input that is an object", async () => {
    const { settings } = toolSettings(newToolName());
    const steps = [transform("a", 1)];
    const body = {
      name: "x",
      trigger: { type: "api" },
      steps,
      settings,
      inputSchema: { type: "array" },
    };
    expect(await system.call("POST", "/workflows", { body })).toMatchObject({
      status: 400,
      error: { details: [{ path: ["inputSchema", "type"] }] },
    });
  });
});

describe("resources", () => {
  it("are the company's tables, and templates for runs and tables", async () => {
    const columns = [{ name: "Sum", type: "number" }];
    const body = { name: "Orders", description: "What was sold.", columns };
    const table = await system.call("POST", "/tables", { body });
    const { id } = z.object({ id: z.string() }).parse(table.data);
    const client = await connect();
    const { resources } = await client.listResources();
    const resource = {
      uri: `workflow://tables/${id}/rows`,
      name: "Orders",
      description: "What was sold.",
    };
    expect(resources).toContainEqual(expect.objectContaining(resource));
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "workflow://runs/{id}",
      "workflow://runs/{id}/logs",
      "workflow://tables/{id}",
      "workflow://tables/{id}/rows{?offset}",
    ]);
    for (const uri of [`workflow://tables/${id}`, `workflow://tables/${id}/rows?offset=0`]) {
      expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }]);
    }
  });

  it("of another company, and what is no resource, are not found", async () => {
    const id = await createActive(system, {}, { key: system.globex.key });
    const started = await postRun(system, id, {}, { key: system.globex.key });
    const runId = runIdOf(started);
    const client = await connect();
    for (const uri of [
      `workflow://runs/${runId}`,
      "workflow://runs/x",
      "workflow://secrets/x",
      "file:///etc",
    ]) {
      await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
    }
  });
});

describe("who may", () => {
  it("do what is told by the scopes of the key", async () => {
    const name = await createTool();
    const reader = await connect(await system.createKey(system.acme, ["workflows:read"]));
    await expect(reader.listTools()).resolves.toBeDefined();
    const result = await reader.callTool({ name, arguments: { name: "Ada" } });
    expect(JSON.parse(String(Reflect.get(result.content[0] ?? {}, "text")))).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("workflows:execute"),
    });
    await expect(reader.readResource({ uri: "workflow://runs/x" })).rejects.toThrow("runs:read");

    const runner = await connect(await system.createKey(system.acme, ["workflows:execute"]));
    await expect(runner.listTools()).rejects.toThrow("workflows:read");
    const ran = await runner.callTool({ name, arguments: { name: "Ada" } });
    expect(ran).toMatchObject({ structuredContent: { text: "Hello Ada" } });
  });

  it("come in is who has a key, in either header", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const without = await post(message, { authorization: "" });
    expect(without.status).toBe(401);
    expect(without.headers.get("www-authenticate")).toBe("Bearer");
    expect(await without.json()).toMatchObject({
      success: false,
      error: { code: "UNAUTHORIZED", message: expect.stringMatching(/Authorization.*x-api-key/) },
    });
    expect((await post(message, { authorization: "Bearer wf_live_nope" })).status).toBe(401);
    expect((await post(message, { authorization: "", "x-api-key": system.acme.key })).status).toBe(
      200,
    );
    expect((await post(message, { origin: "https://evil.example" })).status).toBe(403);
  });

  it("come too often is told so over HTTP, by bucket", async () => {
    const gateway = await system.startGateway({
      rateLimits: { limits: { read: 3, write: 3, execute: 3 } },
    });
    try {
      const statuses: number[] = [];
      for (let call = 0; call < 4; call += 1) {
        const response = await fetch(new URL("/mcp", gateway.origin), {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "x-api-key": system.acme.key,
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
        });
        statuses.push(response.status);
        await response.text();
      }
      expect(statuses).toEqual([200, 200, 200, 429]);
    } finally {
      await gateway.stop();
    }
  });
});

describe("bad input", () => {
  it.each([
    ["no JSON", "{", 400],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], 400],
    ["an empty object", {}, 400],
    ["NUL characters", { jsonrpc: "2.0", id: 1, method: "ping", params: { a: "\0" } }, 400],
  ])("is refused: %s", async (_, message, status) => {
    expect((await post(message)).status).toBe(status);
  });

  it.each([
    ["an unknown method", "nothing/here", {}],
    ["a tool without a name", "tools/call", {}],
    ["arguments that are no object", "tools/call", { name: "x", arguments: 7 }],
    ["a cursor of nobody", "tools/list", { cursor: "x" }],
    ["a resource without an address", "resources/read", {}],
    ["a stream of changes", "subscriptions/listen", {}],
  ])("is answered with a JSON-RPC error: %s", async (_, method, params) => {
    const response = await post({ jsonrpc: "2.0", id: 7, method, params });
    expect(response.status).toBeLessThan(500);
    expect(await jsonOf(response)).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      error: { code: expect.any(Number) },
    });
  });

  it("is told which methods there are", async () => {
    const response = await fetch(new URL("/mcp", system.origin), {
      headers: { authorization: `Bearer ${system.acme.key}` },
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
});
