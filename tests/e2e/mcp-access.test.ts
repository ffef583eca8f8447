import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createActive, postRun, runIdOf } from "../support/scenarios.ts";
import { jsonOf, useMcp } from "../support/mcp.ts";

const mcp = useMcp();

describe("resources", () => {
  it("are the company's tables, and templates for runs and tables", async () => {
    const columns = [{ name: "Sum", type: "number" }];
    const body = { name: "Orders", description: "What was sold.", columns };
    const table = await mcp.system.call("POST", "/tables", { body });
    const { id } = z.object({ id: z.string() }).parse(table.data);
    const client = await mcp.connect();
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
    const id = await createActive(mcp.system, {}, { key: mcp.system.globex.key });
    const started = await postRun(mcp.system, id, {}, { key: mcp.system.globex.key });
    const runId = runIdOf(started);
    const client = await mcp.connect();
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
    const name = await mcp.createTool();
    const reader = await mcp.connect(
      await mcp.system.createKey(mcp.system.acme, ["workflows:read"]),
    );
    await expect(reader.listTools()).resolves.toBeDefined();
    const result = await reader.callTool({ name, arguments: { name: "Ada" } });
    expect(JSON.parse(String(Reflect.get(result.content[0] ?? {}, "text")))).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("workflows:execute"),
    });
    await expect(reader.readResource({ uri: "workflow://runs/x" })).rejects.toThrow("runs:read");

    const runner = await mcp.connect(
      await mcp.system.createKey(mcp.system.acme, ["workflows:execute"]),
    );
    await expect(runner.listTools()).rejects.toThrow("workflows:read");
    const ran = await runner.callTool({ name, arguments: { name: "Ada" } });
    expect(ran).toMatchObject({ structuredContent: { text: "Hello Ada" } });
  });

  it("come in is who has a key, in either header", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const without = await mcp.post(message, { authorization: "" });
    expect(without.status).toBe(401);
    expect(without.headers.get("www-authenticate")).toBe("Bearer");
    expect(await without.json()).toMatchObject({
      success: false,
      error: { code: "UNAUTHORIZED", message: expect.stringMatching(/Authorization.*x-api-key/) },
    });
    expect((await mcp.post(message, { authorization: "Bearer wf_live_nope" })).status).toBe(401);
    expect(
      (await mcp.post(message, { authorization: "", "x-api-key": mcp.system.acme.key })).status,
    ).toBe(200);
    expect((await mcp.post(message, { origin: "https://evil.example" })).status).toBe(403);
  });

  it("come too often is told so over HTTP, by bucket", async () => {
    const gateway = await mcp.system.startGateway({
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
            "x-api-key": mcp.system.acme.key,
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
    expect((await mcp.post(message)).status).toBe(status);
  });

  it.each([
    ["an unknown method", "nothing/here", {}],
    ["a tool without a name", "tools/call", {}],
    ["arguments that are no object", "tools/call", { name: "x", arguments: 7 }],
    ["a cursor of nobody", "tools/list", { cursor: "x" }],
    ["a resource without an address", "resources/read", {}],
    ["a stream of changes", "subscriptions/listen", {}],
  ])("is answered with a JSON-RPC error: %s", async (_, method, params) => {
    const response = await mcp.post({ jsonrpc: "2.0", id: 7, method, params });
    expect(response.status).toBeLessThan(500);
    expect(await jsonOf(response)).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      error: { code: expect.any(Number) },
    });
  });

  it("is told which methods there are", async () => {
    const response = await fetch(new URL("/mcp", mcp.system.origin), {
      headers: { authorization: `Bearer ${mcp.system.acme.key}` },
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
});
