import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { createActive, createWorkflow, getWorkflow, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

const pulledSchema = z.array(z.object({ path: z.string(), id: z.string(), result: z.string() }));
const fileSchema = z.looseObject({ id: z.string().optional(), basedOn: z.string().optional() });

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});

const edit = async (path: string, change: (text: string) => string): Promise<void> =>
  writeFile(path, change(await readFile(path, "utf8")));

/** A workflow in a folder of its own, pulled. */
async function pulled(name: string): Promise<{ id: string; dir: string; path: string }> {
  const { id } = await createWorkflow(system, {
    name,
    steps: [transform("hello", { text: "Hello" })],
  });
  const dir = join(cli.dir, id);
  const [entry] = await cli.json(pulledSchema, ["workflows", "pull", id, "--dir", dir]);
  expect(entry).toMatchObject({ id, result: "new" });
  return { id, dir, path: entry?.path ?? "" };
}

describe("definitions as files", () => {
  test("are pulled, changed, compared and pushed; a second push has nothing to do", async () => {
    const { id, dir, path } = await pulled("Grün & more");
    expect(path).toBe(join(dir, "grun-more.workflow.json"));
    await edit(path, (text) => text.replace("Hello", "Good morning"));
    const diff = await cli.run(["workflows", "diff", path]);
    expect(diff).toMatchObject({ code: 1, stderr: "" });
    expect(diff.stdout).toMatch(/^-.*"Hello"$/m);
    expect(diff.stdout).toMatch(/^\+.*"Good morning"$/m);
    const pushed = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(pushed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sent .*\(draft\)$/m) });
    expect(await getWorkflow(system, id)).toMatchObject({
      steps: [{ config: { mapping: { text: "Good morning" } } }],
    });
    const again = await cli.run(["workflows", "push", path, "--yes"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^unchanged /) });
    expect(await cli.run(["workflows", "diff", path])).toMatchObject({ code: 0, stdout: "" });
  });

  test("without an id become a new draft, and get the id", async () => {
    const path = join(cli.dir, "new.workflow.json");
    const definition = { name: "New", trigger: { type: "api" }, steps: [transform("a", { b: 1 })] };
    await writeFile(path, JSON.stringify(definition));
    const refused = await cli.run(["workflows", "push", path]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await cli.run(["workflows", "push", path, "--dry-run"])).toMatchObject({ code: 0 });
    expect(fileSchema.parse(JSON.parse(await readFile(path, "utf8"))).id).toBeUndefined();
    const pushed = await cli.run(["workflows", "push", path, "--yes"]);
    expect(pushed.stderr).toBe("");
    const { id = "" } = fileSchema.parse(JSON.parse(await readFile(path, "utf8")));
    expect(await getWorkflow(system, id)).toMatchObject({ name: "New", status: "draft" });
  });

  test("keep the order of their keys, so that a pull changes no line without need", async () => {
    const { dir, path } = await pulled("Stable");
    const before = await readFile(path, "utf8");
    const [entry] = await cli.json(pulledSchema, ["workflows", "pull", "Stable", "--dir", dir]);
    expect(entry?.result).toBe("unchanged");
    expect(await readFile(path, "utf8")).toBe(before);
    expect(Object.keys(JSON.parse(before))).toEqual([
      "id",
      "basedOn",
      "name",
      "description",
      "trigger",
      "steps",
      "inputSchema",
      "outputSchema",
      "settings",
    ]);
  });

  test("do not overwrite what somebody else has saved, nor are overwritten unpushed", async () => {
    const { id, dir, path } = await pulled("Contested");
    await edit(path, (text) => text.replace("Hello", "Mine"));
    await system.call("PUT", `/workflows/${id}`, { body: { description: "Theirs" } });
    const push = await cli.run(["workflows", "push", path, "--yes"]);
    expect(push).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("somebody has changed"),
    });
    expect(await getWorkflow(system, id)).toMatchObject({ description: "Theirs" });
    const pull = await cli.run(["workflows", "pull", id, "--dir", dir]);
    expect(pull).toMatchObject({ code: 6, stderr: expect.stringContaining("never pushed") });
    expect(await readFile(path, "utf8")).toContain("Mine");
    const overwritten = await cli.run(["workflows", "push", path, "--yes", "--overwrite"]);
    expect(overwritten).toMatchObject({ code: 0, stdout: expect.stringMatching(/^-.*Theirs/m) });
    const after = await getWorkflow(system, id);
    expect(after).not.toHaveProperty("description");
    expect(JSON.stringify(after.steps)).toContain("Mine");
  });

  test("that activation has touched are no conflict", async () => {
    const { id, path } = await pulled("Activated");
    expect((await cli.run(["workflows", "activate", path])).code).toBe(0);
    await edit(path, (text) => text.replace("Hello", "Later"));
    const pushed = await cli.run(["workflows", "push", path, "--yes", "--summary", "Friendlier"]);
    expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining("v2 (active)") });
    const versions = await cli.run(["workflows", "versions", id]);
    expect(versions.stdout).toMatch(/v2 .*current.*Friendlier/);
    const compared = await cli.run(["workflows", "versions", id, "--compare", "1..2", "--json"]);
    expect(JSON.parse(compared.stdout)).toMatchObject({
      changes: { steps: { modified: ["hello"] } },
    });
    const back = await cli.run(["workflows", "rollback", id, "1", "--yes"]);
    expect(back).toMatchObject({ code: 0, stdout: expect.stringContaining("version 3") });
    expect((await cli.run(["workflows", "pause", id])).stdout).toContain("paused");
  });

  test.each([
    ["half written", '{"name": "Half", "trig', /half/],
    ["empty", "", /it is empty/],
    ["of another kind", '{"name": 5, "surprise": true}', /surprise/],
  ])("that are %s are refused before anything is sent", async (_, text, message) => {
    const { dir, path } = await pulled(`Whole ${String(message)}`);
    await edit(path, (whole) => whole.replace("Hello", "Changed"));
    const broken = join(dir, "z.workflow.json");
    await writeFile(broken, text);
    const push = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(push).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
    expect(push.stderr).toContain(broken);
    expect((await cli.run(["workflows", "diff", path])).code).toBe(1);
  });

  test("that the server refuses say where they are wrong, with the request's id", async () => {
    const { path } = await pulled("Refused");
    await edit(path, (text) => text.replace('"transform"', '"nothing"'));
    const push = await cli.run(["workflows", "push", path, "--yes"]);
    expect(push).toMatchObject({ code: 1, stderr: expect.stringMatching(/steps\.0.*\n/) });
    expect(push.stderr).toMatch(/request id: [\w-]+/);
    expect(push.stderr).toContain("0 of 1 were sent");
  });

  test("may not be two for one workflow", async () => {
    const { dir, path } = await pulled("Twice");
    await writeFile(join(dir, "copy.workflow.json"), await readFile(path, "utf8"));
    const push = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(push).toMatchObject({ code: 2, stderr: expect.stringContaining("same id") });
  });
});

describe("a workflow", () => {
  test("is found by its name, and checked and run", async () => {
    const id = await createActive(system, {
      name: "By name",
      steps: [transform("hello", { text: "Hello {{input.name}}" })],
    });
    const listed = await cli.run(["workflows", "list", "--search", "By name"]);
    expect(listed.stdout).toMatch(new RegExp(`^ID .*\n${id}  active .* By name\n$`));
    const plan = await cli.run(["workflows", "plan", "By name", "--input", '{"name":"Ada"}']);
    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining("valid: yes") });
    const run = await cli.run(["workflows", "run", "By name", "--wait", "60", "--input", "-"], {
      input: '{"name":"Ada"}',
    });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('"Hello Ada"') });
  });

  test("that has no name, or shares it, is not guessed", async () => {
    expect(await cli.run(["workflows", "get", "Nobody"])).toMatchObject({ code: 5, stdout: "" });
    await createWorkflow(system, { name: "Double" });
    await createWorkflow(system, { name: "Double" });
    const get = await cli.run(["workflows", "get", "Double"]);
    expect(get).toMatchObject({ code: 2, stderr: expect.stringContaining("2 workflows") });
  });

  test("of another company is not found", async () => {
    const { id } = await createWorkflow(system, { name: "Ours" });
    const get = await cli.run(["workflows", "get", id, "--json"], {
      env: { WORKFLOW_API_KEY: system.globex.key },
    });
    expect(get).toMatchObject({ code: 5, stdout: "" });
    expect(JSON.parse(get.stderr)).toMatchObject({
      exitCode: 5,
      error: { code: "NOT_FOUND", requestId: expect.stringMatching(/./) },
    });
  });
});
