import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { formatComparison } from "../compare/comparison-table.ts";
import type { Turn } from "../compare/join-turns.ts";
import type { Outcome, Scenario } from "../scenario.ts";

const RUN = join(import.meta.dirname, "../run.ts");

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "bench-compare-"));
});
afterEach(() => rm(temporary, { recursive: true }));

function compare(...args: string[]) {
  const env = { ...process.env, TMPDIR: temporary };
  return promisify(execFile)(process.execPath, [RUN, "--compare", ...args], { env });
}

describe("npm run bench -- --compare", () => {
  it("measures both commits, prints their ratios, and leaves nothing behind", async () => {
    const { stdout } = await compare("HEAD", "--quick", "--pairs", "1", "--only", "d");
    expect(stdout).toMatch(/^(\w+) \(A\) and \1 \(B\), 1 pair$/m);
    expect(stdout).toMatch(
      /^\| d +\| request → 202, p50 +\| [\d.,]+ ms +\| [\d.,]+ ms +\| [\d.,]+ +\|/m,
    );
    expect(stdout).not.toMatch(/NaN|Written to/);
    const left = await readdir(temporary);
    // The empty folder for sockets stays.
    expect(left.filter((name) => !name.startsWith("local-postgres-"))).toEqual([]);
  }, 600_000);

  it.each([
    [["no-such-commit"], 1, 'no commit "no-such-commit"'],
    [["HEAD", "--pairs", "0"], 2, "--pairs: a number from 1"],
    [["HEAD", "--quick", "--record"], 2, "quick figures are no history"],
    [["HEAD", "--cpu-prof", "profiles"], 2, "profiles slow down"],
  ])("refuses %p before anything is started", async (args, code, text) => {
    await expect(compare(...args)).rejects.toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining(text),
    });
  });
});

describe("the table of a comparison", () => {
  it("has the median of the pairs' ratios, and names a difference only where all pairs agree", () => {
    const a = { commit: "aaaaaaa", turns: [100, 200, 100, 100].map(turnOf) };
    expect(
      formatComparison(a, { commit: "bbbbbbb", turns: [120, 260, 110, 150].map(turnOf) }),
    ).toMatch(/\| 100 \/s +\| 135 \/s +\| 1\.250 +\| 1\.100 to 1\.500 +\| B has more +\|$/m);
    expect(
      formatComparison(a, { commit: "bbbbbbb", turns: [90, 100, 99, 80].map(turnOf) }),
    ).toMatch(/\| B has less +\|$/m);
    expect(
      formatComparison(a, { commit: "bbbbbbb", turns: [120, 260, 99, 150].map(turnOf) }),
    ).toMatch(/\| no difference seen +\|$/m);
  });
});

/** A turn whose only scenario has one figure. */
function turnOf(perSecond: number): Turn {
  const outcome: Outcome = {
    figures: [{ name: "completed runs", value: perSecond, unit: "/s" }],
    rounds: [],
  };
  const measure = (): Promise<Outcome> => Promise.resolve(outcome);
  const scenario: Scenario = { id: "c", title: "Completing runs", method: "Runs.", measure };
  return { startedInMs: 1, measured: [{ scenario, outcome }] };
}
