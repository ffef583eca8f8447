import { describe, expect, it } from "@jest/globals";
import {
  createActive,
  createWorkflow,
  delay,
  failing,
  transform,
  waitForFirstRun,
} from "../support/scenarios.ts";
import { jsonOf, listed, newToolName, inputSchema, toolSettings, useMcp } from "../support/mcp.ts";

const mcp = useMcp();

describe.each(["legacy", "auto"] as const)("MCP, version negotiation %s", (era) => {
  it("lists the active workflows of the company that opted in, as tools", async () => {
    const name = await mcp.createTool();
    const draft = newToolName();
    await createWorkflow(mcp.system, toolSettings(draft));
    await createActive(mcp.system);
    const foreign = await mcp.createTool({}, mcp.system.globex.key);
    const client = await mcp.connect(undefined, era);
    const { tools } = await client.listTools();
    expect(tools.find((tool) => tool.name === name)).toMatchObject({
      name,
      title: "Greeting",
      description: "Greets somebody by name.",
      inputSchema,
    });
    const names = tools.map((tool) => tool.name);
    expect(names).not.toContain(draft);
    // A tool of another company may have the name of one of ours.
    expect(tools.every((tool) => tool.name.startsWith("tool_"))).toBe(true);
    expect(names.filter((each) => each === foreign)).toEqual([]);
  });

  it("runs a tool and returns the run's output, and a link to the run", async () => {
    const name = await mcp.createTool();
    const client = await mcp.connect(undefined, era);
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
    const name = await mcp.createTool();
    const client = await mcp.connect(undefined, era);
    const result = await client.callTool({ name, arguments: { name: 7 } });
    expect(result).toMatchObject({ isError: true });
    const [text] = result.content;
    expect(JSON.parse(String(Reflect.get(text ?? {}, "text")))).toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: ["name"] }],
    });
    const { data } = await mcp.system.call("GET", `/workflows/${await mcp.workflowOf(name)}/runs`);
    expect(data).toEqual([]);
  });
});

describe("a tool", () => {
  it("whose run fails gives the failure and the run's id as an error", async () => {
    const name = await mcp.createTool({ steps: [failing("call")] });
    const client = await mcp.connect();
    const result = await client.callTool({ name, arguments: { name: "Ada" } });
    expect(result.isError).toBe(true);
    expect(JSON.parse(String(Reflect.get(result.content[0] ?? {}, "text")))).toMatchObject({
      code: "TRIGGER_ERROR",
      details: { run_id: expect.stringMatching(/^run_/), status: "failed" },
    });
  });

  it("that is not there, or of another company, is named in the error", async () => {
    const foreign = `foreign_${newToolName()}`;
    await createActive(mcp.system, toolSettings(foreign), { key: mcp.system.globex.key });
    const client = await mcp.connect();
    for (const name of ["nothing", foreign, "a\0b"]) {
      const calling = client.callTool({ name, arguments: {} });
      await expect(calling).rejects.toThrow(name === "a\0b" ? "NUL" : JSON.stringify(name));
    }
  });

  it("is gone with the activity of its workflow", async () => {
    const name = newToolName();
    const id = await createActive(mcp.system, toolSettings(name));
    const client = await mcp.connect();
    expect(await client.callTool({ name, arguments: { name: "Ada" } })).not.toHaveProperty(
      "isError",
    );
    await mcp.system.call("POST", `/workflows/${id}/pause`);
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow("no tool");
  });

  it("whose run goes on gives a link to it", async () => {
    const name = await mcp.createTool({ steps: [delay("sleep", 3_600_000)] });
    const gateway = await mcp.system.startGateway();
    const client = await mcp.connect(mcp.system.acme.key, "auto", gateway.origin);
    const calling = client.callTool({ name, arguments: { name: "Ada" } });
    const runId = await waitForFirstRun(mcp.system, await mcp.workflowOf(name));
    // A caller that waits when a gateway stops gets the answer of an ended wait.
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
    const { key } = mcp.system.globex;
    for (let batch = 0; batch < 11; batch += 1) {
      await Promise.all(Array.from({ length: 10 }, () => mcp.createTool({}, key)));
    }
    const page = async (cursor?: string) => {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor } };
      return listed.parse(
        await jsonOf(await mcp.post(message, { authorization: `Bearer ${key}` })),
      );
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
    const first = await createActive(mcp.system, toolSettings(name));
    const second = await createWorkflow(mcp.system, toolSettings(name));
    const taken = {
      status: 409,
      error: { code: "CONFLICT", details: [{ path: ["settings", "mcp", "name"] }] },
    };
    expect(await mcp.system.call("POST", `/workflows/${second.id}/activate`)).toMatchObject(taken);
    const other = await createActive(mcp.system, toolSettings(newToolName()));
    const body = toolSettings(name);
    expect(await mcp.system.call("PUT", `/workflows/${other}`, { body })).toMatchObject(taken);
    // Another company may have a tool of that name.
    await createActive(mcp.system, toolSettings(name), { key: mcp.system.globex.key });
    await mcp.system.call("POST", `/workflows/${first}/pause`);
    const activated = await mcp.system.call("POST", `/workflows/${second.id}/activate`);
    expect(activated).toMatchObject({ status: 200 });
  });

  it.each([
    [{ name: "two words", description: "x" }, ["settings", "mcp", "name"]],
    [{ name: "x".repeat(65), description: "x" }, ["settings", "mcp", "name"]],
    [{ name: "x" }, ["settings", "mcp", "description"]],
    [{ name: "x", description: "" }, ["settings", "mcp", "description"]],
    ["x", ["settings", "mcp"]],
  ])("is refused when it is declared wrongly: %j", async (declared, path) => {
    const body = {
      name: "x",
      trigger: { type: "api" },
      steps: [transform("a", 1)],
      settings: { mcp: declared },
    };
    expect(await mcp.system.call("POST", "/workflows", { body })).toMatchObject({
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
    expect(await mcp.system.call("POST", "/workflows", { body })).toMatchObject({
      status: 400,
      error: { details: [{ path: ["inputSchema", "type"] }] },
    });
  });
});
