import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";

const RUN = join(import.meta.dirname, "../run.ts");

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "bench-report-"));
});
afterEach(() => rm(out, { recursive: true }));

function bench(...args: string[]) {
  return promisify(execFile)(process.execPath, [RUN, ...args, "--out", out]);
}

describe("npm run bench", () => {
  it("writes and prints a report of the chosen scenario and ends by itself", async () => {
    const { stdout } = await bench("--quick", "--only", "a");
    const [name = "", ...others] = await readdir(out);
    expect(others).toEqual([]);
    expect(name).toMatch(/^\d{4}-\d\d-\d\d-\w+-a-quick\.md$/);
    const report = await readFile(join(out, name), "utf8");
    expect(stdout).toContain(report);
    expect(report).toMatch(/^\| a +\| Reading a workflow .* ≥ 0\.6 +\| (pass|\*\*miss\*\*) +\|$/m);
    expect(report).not.toContain("NaN");
    expect(report).not.toContain("Accepting runs");
  });

  it("refuses a scenario that does not exist, before anything is started", async () => {
    await expect(bench("--only", "a,zz")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no scenario "zz"'),
    });
    expect(await readdir(out)).toEqual([]);
  });
});
