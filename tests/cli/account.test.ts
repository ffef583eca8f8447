import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

let model: ModelDouble;
let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  model = await startOpenAiDouble();
  system = await startWholeSystem({ agents: { openai: model } });
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
  await model?.close();
});

const VALUE = "s3cret-value-that-nobody-may-see";

describe("a secret", () => {
  test("is typed without being shown, replaced by a pipe, listed and deleted", async () => {
    const { id } = await createWorkflow(system);
    const typed = cli.terminal(["secrets", "set", id, "TOKEN"]);
    await typed.shows("Value of TOKEN:");
    typed.type(`${VALUE}\r`);
    expect(await typed.ended).toBe(0);
    expect(typed.screen()).toContain("TOKEN was stored");
    const piped = await cli.run(["secrets", "set", id, "TOKEN", "--hosts", "api.example.com"], {
      input: `${VALUE}2\n`,
    });
    expect(piped).toMatchObject({ code: 0, stdout: "TOKEN was replaced.\n" });
    const listed = await cli.run(["secrets", "list", id]);
    expect(listed.stdout).toMatch(/TOKEN .*ee2 +api\.example\.com/);
    expect(typed.screen() + piped.stdout + piped.stderr + listed.stdout).not.toContain(VALUE);
    expect(await cli.run(["secrets", "delete", id, "TOKEN"])).toMatchObject({ code: 2 });
    expect(await cli.run(["secrets", "delete", id, "TOKEN", "--yes"])).toMatchObject({ code: 0 });
    expect(await cli.run(["secrets", "list", id])).toMatchObject({ stdout: "" });
  });

  test("with a wrong name is refused, and its value is not repeated", async () => {
    const { id } = await createWorkflow(system);
    const wrong = await cli.run(["secrets", "set", id, "not good"], { input: VALUE });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/key: .*\n/) });
    expect(wrong.stderr).not.toContain(VALUE);
    const empty = await cli.run(["secrets", "set", id, "GOOD"]);
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("empty") });
  });
});

describe("an API key", () => {
  test("is made, shown once, listed without it, and revoked", async () => {
    const args = ["keys", "create", "CI", "--scopes", "runs:read", "workflows:read"];
    const made = await cli.json(z.object({ id: z.string(), key: z.string() }), args);
    const listed = await cli.run(["keys", "list"]);
    expect(listed.stdout).toMatch(new RegExp(`^${made.id} .* CI +runs:read workflows:read$`, "m"));
    expect(listed.stdout).not.toContain(made.key);
    expect((await cli.run(["keys", "revoke", made.key, "--yes"])).code).toBe(2);
    const asked = cli.terminal(["keys", "revoke", made.id]);
    await asked.shows("[y/N]");
    asked.type("n\r");
    expect(await asked.ended).toBe(1);
    expect(await cli.run(["keys", "revoke", made.id, "--yes"])).toMatchObject({ code: 0 });
    expect((await cli.run(["keys", "list"])).stdout).not.toContain(made.id);
  });

  test("without scopes, or with unknown ones, is not made", async () => {
    expect((await cli.run(["keys", "create", "CI"])).code).toBe(2);
    expect((await cli.run(["keys", "create", "CI", "--scopes", "all"])).code).toBe(2);
  });
});

describe("the audit log", () => {
  test("tells who has changed what", async () => {
    const { id } = await createWorkflow(system);
    const audit = await cli.run(["audit", "--resource", id, "--after", "1h"]);
    expect(audit.stdout).toMatch(new RegExp(`workflow\\.created +${id}`));
  });
});

describe("an agent", () => {
  test("is made from a file, asked, changed, listed and deleted", async () => {
    const path = join(cli.dir, "agent.json");
    const agent = { name: "Sorter", type: "custom", systemPrompt: "Sort." };
    await writeFile(path, JSON.stringify(agent));
    const { id } = await cli.json(z.object({ id: z.string() }), ["agents", "create", path]);
    const asked = await cli.run(["agents", "ask", id, "--input", '{"a":1}', "--test"]);
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringMatching(/tokens\n$/) });
    const changed = await cli.run(["agents", "update", id, "-"], { input: '{"temperature":0}' });
    expect(changed.stdout).toContain("version 2");
    expect((await cli.run(["agents", "list", "--own"])).stdout).toMatch(/v2 +Sorter$/m);
    expect((await cli.run(["agents", "get", id])).stdout).toContain("  Sort.");
    await cli.run(["agents", "ask", id, "--input", '{"a":1}']);
    expect((await cli.run(["agents", "executions", id])).stdout).toMatch(/^aex_\w+ +completed/m);
    expect(await cli.run(["agents", "delete", id, "--yes"])).toMatchObject({ code: 0 });
    expect(await cli.run(["agents", "delete", "agent_decision", "--yes"])).toMatchObject({
      code: 1,
    });
  });
});

describe("a connection", () => {
  test("is listed, shown, and asked about", async () => {
    const body = { name: "Books", provider: "finance", externalAccountId: "acct_1" };
    const { data } = await system.call("POST", "/connections", { body });
    const { id } = z.object({ id: z.string() }).parse(data);
    expect((await cli.run(["connections", "list"])).stdout).toContain(id);
    expect((await cli.run(["connections", "get", id])).stdout).toMatch(/name: +Books/);
    const key = await cli.run(["connections", "add-key", "stripe"], { input: VALUE });
    expect(key).toMatchObject({ code: 1, stdout: "" });
    expect(key.stderr).not.toContain(VALUE);
    expect(await cli.run(["connections", "delete", id, "--yes"])).toMatchObject({ code: 0 });
    expect(await cli.run(["connections", "get", id])).toMatchObject({ code: 5 });
  });
});
