import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { createActive } from "./scenarios.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { WholeSystem } from "./whole-system.ts";

/** Two eras of the protocol: `legacy` begins with a handshake, and in `auto` each request stands for itself. */
type Era = "legacy" | "auto";

/** The input that a tool of the tests takes. */
export const inputSchema = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
};

/** The answer of `tools/list` as JSON-RPC. */
export const listed = z.object({
  result: z.object({
    tools: z.array(z.object({ name: z.string() })),
    nextCursor: z.string().optional(),
  }),
});

let count = 0;
/** A name that no other tool of the file has. */
export function newToolName(): string {
  count += 1;
  return `tool_${count}`;
}

/** The settings with which a workflow is a tool of this name. */
export function toolSettings(name: string) {
  return { settings: { mcp: { name, description: "Greets somebody by name." } } };
}

/** The message of an answer, which the older version of the protocol wraps in one event of a stream. */
export async function jsonOf(response: Response): Promise<unknown> {
  return JSON.parse((await response.text()).replace(/^event: message\ndata: /, ""));
}

async function startClient(origin: string, apiKey: string, mode: Era): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", origin), {
    authProvider: { token: async () => apiKey },
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

/** The id of the workflow behind a tool. */
async function workflowOf(system: WholeSystem, name: string): Promise<string> {
  const { data } = await system.call("GET", "/workflows?status=active&limit=100");
  const workflows = z
    .array(z.object({ id: z.string(), settings: z.looseObject({}).nullable() }))
    .parse(data);
  const found = workflows.find(({ settings }) => JSON.stringify(settings).includes(`"${name}"`));
  if (found === undefined) throw new Error(`${name} is no tool.`);
  return found.id;
}

function post(
  { origin, acme }: WholeSystem,
  message: unknown,
  headers: Record<string, string>,
): Promise<Response> {
  return fetch(new URL("/mcp", origin), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${acme.key}`,
      ...headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
}

/** One system for the cases of a file, and clients of its `/mcp`, which close after each case. */
export function useMcp() {
  let system: WholeSystem;
  const clients: Client[] = [];
  beforeAll(async () => {
    system = await startWholeSystem();
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
  afterAll(() => system.stop());
  return {
    get system() {
      return system;
    },
    /** A client that has connected, with the key of Acme where none is given. */
    async connect(apiKey = system.acme.key, mode: Era = "auto", origin = system.origin) {
      const client = await startClient(origin, apiKey, mode);
      clients.push(client);
      return client;
    },
    /** Makes an active workflow that greets, as a tool; returns the tool's name. */
    async createTool(changes: Record<string, unknown> = {}, key?: string): Promise<string> {
      const name = newToolName();
      const body = { name: "Greeting", inputSchema, ...toolSettings(name), ...changes };
      await createActive(system, body, key === undefined ? {} : { key });
      return name;
    },
    workflowOf: (name: string) => workflowOf(system, name),
    /** Posts a message by plain HTTP; text is sent as it is. */
    post: (message: unknown, headers: Record<string, string> = {}) =>
      post(system, message, headers),
  };
}
