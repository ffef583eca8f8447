import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";

const PROGRAM = join(import.meta.dirname, "../../.ci/side-by-side");

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "side-by-side-"));
  const scripts = {
    // Ends only when the other one has begun.
    waits: "until [ -e begun ]; do sleep 0.05; done; echo first",
    begins: "touch begun; echo second",
    breaks: "echo third >&2; exit 3",
  };
  await writeFile(join(folder, "package.json"), JSON.stringify({ scripts }));
});
afterEach(() => rm(folder, { recursive: true }));

function run(...names: string[]) {
  const env = { ...process.env, TMPDIR: folder };
  return promisify(execFile)("bash", [PROGRAM, ...names], { cwd: folder, env });
}

describe(".ci/side-by-side", () => {
  it("runs checks at the same time and prints what they say in the order given", async () => {
    const { stdout } = await run("waits", "begins");
    expect(stdout).toMatch(/^\n== waits \(\d+ s\)\nfirst\n\n== begins \(\d+ s\)\nsecond\n$/);
    // Programs of the machine may have caches of their own there.
    const left = (await readdir(folder)).filter((name) => name.startsWith("tmp."));
    expect(left).toEqual([]);
  });

  it("fails when one fails, plays the others all the same, and names it last", async () => {
    await expect(run("breaks", "begins")).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\nthird\n\n== begins [^]*\nsecond\n\nFailed: breaks\n$/),
    });
  });
});
