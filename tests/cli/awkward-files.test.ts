import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { createWorkflow, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  const address = { WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key };
  cli = await buildCli(address);
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});

const textOf = (name: string): string =>
  JSON.stringify({ name, trigger: { type: "api" }, steps: [transform("a", { b: 1 })] });

async function folder(name: string): Promise<string> {
  const dir = join(cli.dir, name);
  await mkdir(dir);
  return dir;
}

async function namesOnServer(search: string): Promise<string[]> {
  const query = new URLSearchParams({ search, limit: "100" }).toString();
  const { data } = await system.call("GET", `/workflows?${query}`);
  return z
    .array(z.object({ name: z.string() }))
    .parse(data)
    .map(({ name }) => name)
    .sort();
}

describe("a definition", () => {
  test("behind a link is written where the link leads, with its rights", async () => {
    const dir = await folder("links");
    const target = join(cli.dir, "elsewhere.json");
    await writeFile(target, textOf("Linked"), { mode: 0o600 });
    await chmod(target, 0o600);
    const link = join(dir, "linked.workflow.json");
    await symlink("../elsewhere.json", link);
    const pushed = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(pushed).toMatchObject({ code: 0, stderr: "" });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, "utf8")).toContain('"basedOn"');
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await readdir(cli.dir)).not.toContainEqual(expect.stringMatching(/tmp$/));
  });

  test("that comes from a pipe is not sent, since its id could not be kept", async () => {
    await writeFile(join(cli.dir, "piped.json"), textOf("Piped"));
    const pushed = await cli.shell("cat piped.json | workflowctl workflows push /dev/stdin --yes");
    expect(pushed).toMatchObject({ code: 8, stderr: expect.stringContaining("Nothing was sent") });
    expect(await namesOnServer("Piped")).toEqual([]);
  });

  test("with a mark of Windows, its line ends and letters of all the world is sent", async () => {
    const dir = await folder("windows");
    const text = JSON.stringify(JSON.parse(textOf("Ünï 日本")), null, 2).replaceAll("\n", "\r\n");
    await writeFile(join(dir, "ü 日本.workflow.json"), `\uFEFF${text}`);
    const pushed = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(pushed).toMatchObject({ code: 0, stderr: "" });
    expect(await namesOnServer("Ünï")).toEqual(["Ünï 日本"]);
  });

  test("in another encoding than UTF-8 is refused before anything is sent", async () => {
    const dir = await folder("latin");
    await writeFile(join(dir, "a.workflow.json"), textOf("Latin before"));
    await writeFile(join(dir, "b.workflow.json"), Buffer.from(textOf("Zo\u00eb"), "latin1"));
    const pushed = await cli.run(["workflows", "push", "--dir", dir, "--yes"]);
    expect(pushed).toMatchObject({ code: 2, stderr: expect.stringContaining("no UTF-8 text") });
    expect(await namesOnServer("Latin before")).toEqual([]);
  });

  test("whose name would turn or steer the terminal is shown harmlessly by diff", async () => {
    const dir = await folder("trojan");
    const path = join(dir, "a.workflow.json");
    await writeFile(path, textOf("Ev\u202eil \u001b[31m\u009b"));
    expect(await cli.run(["workflows", "push", path, "--yes"])).toMatchObject({ code: 0 });
    await writeFile(path, (await readFile(path, "utf8")).replace('"b": 1', '"b": 2'));
    const { stdout } = await cli.run(["workflows", "diff", path]);
    expect(stdout).toContain('"b": 2');
    for (const sign of ["\u001b", "\u009b", "\u202e"]) expect(stdout).not.toContain(sign);
  });
});

describe("a folder", () => {
  test("of more files than may be open at once is read", async () => {
    const dir = await folder("many");
    for (let number = 0; number < 150; number += 1) {
      await writeFile(join(dir, `${number}.workflow.json`), textOf(`Many ${number}`));
    }
    const diff = await cli.shell("ulimit -n 64; workflowctl workflows diff --dir many --json");
    expect(diff).toMatchObject({ code: 1, stderr: "" });
    expect(z.array(z.unknown()).parse(JSON.parse(diff.stdout))).toHaveLength(150);
  });

  test("is sent as a whole when nobody reads what is said of it", async () => {
    const dir = await folder("unread");
    const names = ["Unread 1", "Unread 2", "Unread 3", "Unread 4"];
    for (const name of names) await writeFile(join(dir, `${name}.workflow.json`), textOf(name));
    const pushed = await cli.shell(
      "workflowctl workflows push --dir unread --yes | head -1; echo ${PIPESTATUS[0]}",
    );
    expect(pushed.stdout).toMatch(/\n0\n$/);
    expect(await namesOnServer("Unread")).toEqual(names);
    for (const name of names) {
      expect(await readFile(join(dir, `${name}.workflow.json`), "utf8")).toContain('"id"');
    }
  });

  test("whose file names differ in capitals only from a new one's keeps them all", async () => {
    const dir = await folder("capitals");
    await writeFile(join(dir, "GREETING.workflow.json"), textOf("Another"));
    const { id } = await createWorkflow(system, { name: "Greeting", steps: [transform("a", {})] });
    const pulled = await cli.run(["workflows", "pull", id, "--dir", dir]);
    expect(pulled).toMatchObject({ code: 0 });
    expect((await readdir(dir)).sort()).toEqual([
      "GREETING.workflow.json",
      "greeting-2.workflow.json",
    ]);
  });
});
