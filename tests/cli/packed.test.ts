import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { createScope } from "@workflow/async";
import { startSystem } from "../../bench/system.ts";
import { cliAt } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

const run = promisify(execFile);
const BUILD = join(import.meta.dirname, "../../packages/cli/build.ts");

const SHELLS = ["zsh", "fish"];
const absent = SHELLS.filter((shell) => !isHere(shell));
const NOT_RUN = absent.length === 0 ? "" : ` (not run, as they are not here: ${absent.join(", ")})`;

function isHere(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

const scope = createScope();
let cli: Cli;
beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), "workflowctl-packed-"));
  scope.defer(() => rm(root, { recursive: true, force: true }));
  const dist = join(root, "dist");
  await run(process.execPath, [BUILD, dist]);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", root], {
    cwd: dist,
  });
  const [packed] = z.array(z.object({ filename: z.string() })).parse(JSON.parse(stdout));
  const home = await mkdtemp(join(root, "empty-"));
  const tarball = join(root, packed?.filename ?? "");
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: home });
  const system = await startSystem(scope);
  cli = await cliAt(home, {
    program: join(home, "node_modules/.bin/workflowctl"),
    env: { WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.apiKey },
  });
  const installed = await readdir(join(home, "node_modules"));
  expect(installed.filter((name) => !name.startsWith("."))).toEqual(["@workflow"]);
  expect((await stat(join(home, "node_modules/.bin/workflowctl"))).mode & 0o111).not.toBe(0);
});
afterAll(() => scope.close());

describe("the packed command, in an empty folder against a fresh start", () => {
  test("makes a workflow from a file, activates it and runs it", async () => {
    const definition = {
      name: "Packed",
      trigger: { type: "api" },
      steps: [
        {
          id: "hello",
          type: "transform",
          name: "Hi",
          config: { mapping: { text: "Hello {{input.name}}" } },
        },
      ],
    };
    const made = await cli.shell(`echo '${JSON.stringify(definition)}' > p.workflow.json &&
      workflowctl workflows push --yes && workflowctl workflows activate Packed &&
      workflowctl workflows run Packed --input '{"name":"Ada"}' --wait 60 --json`);
    expect(made).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("Hello Ada"),
    });
  });

  test("tells its version, and helps with examples and exit codes", async () => {
    expect((await cli.run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await cli.run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("130  interrupted");
    expect(help.stdout).not.toContain("__complete");
    expect((await cli.run(["runs", "list", "--help"])).stdout).toContain("$ workflowctl runs list");
  });
});

test.each(["cli", "client"])(
  "packages/%s, which is source, is not packed by mistake",
  async (name) => {
    const root = join(import.meta.dirname, "../..");
    const packing = run("npm", ["pack", "--dry-run", "-w", `packages/${name}`], { cwd: root });
    await expect(packing).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Pack ./packages/${name}/dist`),
    });
  },
);

describe(`completion${NOT_RUN}`, () => {
  test("in bash knows commands, options and their values", async () => {
    const complete = async (words: string): Promise<string[]> => {
      const list = words.split(" ");
      const script = `source <(workflowctl completion bash)
        COMP_WORDS=(workflowctl ${list.map((word) => `'${word}'`).join(" ")})
        COMP_CWORD=${list.length}; _workflowctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = await cli.shell(script);
      expect(stderr).toBe("");
      return stdout.trim().split("\n");
    };
    expect(await complete("work")).toEqual(["workflows"]);
    expect(await complete("runs re")).toEqual(["retry", "restart"]);
    expect(await complete("runs list --st")).toEqual(["--status"]);
    expect(await complete("runs list --status com")).toEqual(["completed"]);
    expect(await complete("wf pu")).toEqual(["pull", "push"]);
    expect(await complete("completion ")).toEqual(["bash", "zsh", "fish"]);
    expect(await complete("logs run_x")).toEqual([""]);
  });

  for (const shell of SHELLS.filter(isHere)) {
    test(`in ${shell} knows the same, and offers files elsewhere`, async () => {
      const path = `PATH="${dirname(cli.program)}:$PATH"`;
      await writeFile(join(cli.dir, "quetzals.csv"), "");
      await cli.shell(`workflowctl completion ${shell} > completion.${shell}`);
      const complete = async (line: string): Promise<string[]> => {
        await writeFile(join(cli.dir, "ask"), ASK[shell] ?? "");
        const { code, stdout, stderr } = await cli.shell(
          `${path} LINE='${line}' ${shell} ${shell === "zsh" ? "-f" : "--no-config"} ask`,
        );
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        return stdout.trim().split("\n");
      };
      expect(await complete("workflowctl work")).toEqual(["workflows"]);
      expect((await complete("workflowctl runs re")).sort()).toEqual(["restart", "retry"]);
      expect(await complete("workflowctl runs ")).toContain("approve");
      expect(await complete("workflowctl runs ")).not.toContain("quetzals.csv");
      expect(await complete("workflowctl runs list --status com")).toEqual(["completed"]);
      expect(await complete("workflowctl tables import que")).toEqual(["quetzals.csv"]);
    });
  }

  test.each(SHELLS)("has a script for %s, which asks the program", async (shell) => {
    const { code, stdout } = await cli.run(["completion", shell]);
    const asks = stdout.includes("workflowctl __complete");
    expect({ code, asks }).toEqual({ code: 0, asks: true });
  });
});

/** Writes what a shell would offer for LINE, a candidate a line. Of zsh only what draws on a terminal is stood in for. */
const ASK: Readonly<Record<string, string>> = {
  fish: "source completion.fish; complete -C $LINE | string replace -r '\\t.*' ''; true",
  zsh: `compdef() { : }
    compadd() { [[ $1 == -- ]] && shift; print -l -- \${(M)@:#\${words[CURRENT]}*} }
    _files() { print -l -- \${words[CURRENT]}*(N) }
    source ./completion.zsh
    words=(\${(s: :)LINE}); [[ $LINE == *' ' ]] && words+=('')
    CURRENT=\${#words}; _workflowctl`,
};
