import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { installPackage } from "@workflow/testkit";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { createActive } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** The protocol's own inspector, which reports schemas that some model providers would refuse. */
const INSPECTOR = { name: "@modelcontextprotocol/inspector", version: "2.12.0" };

let system: WholeSystem;
let inspector: string;
beforeAll(async () => {
  [system, inspector] = await Promise.all([startWholeSystem(), installPackage(INSPECTOR)]);
});
afterAll(() => system.stop());

/** What the inspector prints; rejects when it ends with another code than 0. */
async function inspect(era: string, words: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(inspector, "clients/launcher/build/index.js"),
    "--cli",
    new URL("/mcp", system.origin).href,
    "--transport",
    "http",
    "--protocol-era",
    era,
    "--format",
    "json",
    "--quiet",
    "--header",
    `x-api-key: ${system.acme.key}`,
    ...words,
  ]);
  return JSON.parse(stdout);
}

const listed = z.looseObject({ result: z.looseObject({}).optional() });

describe.each(["legacy", "modern"])("the inspector of MCP, in the %s era", (era) => {
  it("finds tools whose schemas are portable, calls them and reads resources", async () => {
    const name = `greet_${era}`;
    const properties = { name: { type: "string", description: "Whom to greet." } };
    const inputSchema = { type: "object", properties, required: ["name"] };
    const settings = { mcp: { name, description: "Greets somebody." } };
    await createActive(system, { inputSchema, settings });
    const tools = await inspect(era, ["--method", "tools/list", "--strict"]);
    expect(JSON.stringify(listed.parse(tools))).toContain(`"name":"${name}"`);
    const call = ["--method", "tools/call", "--tool-name", name, "--tool-arg", "name=Ada"];
    expect(JSON.stringify(await inspect(era, call))).toContain("Hello Ada");
    const resources = await inspect(era, ["--method", "resources/templates/list"]);
    expect(JSON.stringify(resources)).toContain("workflow://runs/{id}");
  });
});
