import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { formatHistory, renewHistory } from "../history.ts";
import { RESULTS } from "../options.ts";
import { formatReport, writeReport } from "../report.ts";
import type { Outcome, Scenario } from "../scenario.ts";

const HISTORY = join(import.meta.dirname, "../history.md");

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "bench-history-"));
});
afterEach(() => rm(out, { recursive: true }));

describe("bench/history.md", () => {
  it("is what the reports in results make of it", async () => {
    if (process.env["UPDATE_BENCH_HISTORY"] === "1") await renewHistory(RESULTS);
    expect(await readFile(HISTORY, "utf8")).toBe(await formatHistory(RESULTS));
  });

  it("has one row a commit, with the newest figure of each kind", async () => {
    await report({
      commit: "aaaaaaa",
      startedAt: "2026-11-20T10:00:00.000Z",
      completedPerSecond: 900,
    });
    await report({
      commit: "bbbbbbb",
      startedAt: "2026-11-21T10:00:00.000Z",
      completedPerSecond: 950,
    });
    await report({
      commit: "aaaaaaa",
      startedAt: "2026-11-22T10:00:00.000Z",
      completedPerSecond: 970,
    });
    await renewHistory(out);
    expect(await rows()).toEqual([
      expect.stringMatching(/^\| 2026-11-20 \| aaaaaaa \| 0\.50, 0\.50 .*\| 970 \/s /),
      expect.stringMatching(/^\| 2026-11-21 \| bbbbbbb \| 0\.50 .*\| 950 \/s /),
    ]);
  });

  it("leaves out quick reports, those of uncommitted changes, and other files", async () => {
    const startedAt = "2026-11-20T10:00:00.000Z";
    await report({ commit: "aaaaaaa", startedAt, completedPerSecond: 900, isQuick: true });
    await report({
      commit: "bbbbbbb",
      startedAt,
      completedPerSecond: 900,
      hasUncommittedChanges: true,
    });
    await writeFile(join(out, "other.md"), "# Stored bytes\n\n- Commit ccccccc\n");
    await renewHistory(out);
    expect(await rows()).toEqual([]);
  });
});

interface Reported {
  commit: string;
  startedAt: string;
  completedPerSecond: number;
  isQuick?: boolean;
  hasUncommittedChanges?: boolean;
}

/** Writes a report of scenario c alone, as the benchmark does. */
async function report({ completedPerSecond, isQuick = false, ...given }: Reported): Promise<void> {
  const circumstances = {
    hasUncommittedChanges: false,
    ...given,
    cores: 2,
    cpu: "some processor",
    memoryGiB: 8,
    node: "v24.0.0",
    loadBefore: [0.5, 0.4, 0.3],
    isDataInMemory: false,
    settings: [],
  };
  const outcome: Outcome = {
    figures: [{ name: "completed runs", value: completedPerSecond, unit: "/s" }],
    rounds: [],
  };
  const measure = (): Promise<Outcome> => Promise.resolve(outcome);
  const scenario: Scenario = { id: "c", title: "Completing runs", method: "Runs.", measure };
  const system = { startedInMs: 1 };
  const text = formatReport(circumstances, system, { isQuick }, [{ scenario, outcome }]);
  await writeReport(text, circumstances, { out, only: null, isQuick });
}

async function rows(): Promise<string[]> {
  const text = await readFile(join(out, "history.md"), "utf8");
  return text.split("\n").filter((line) => /^\| \d{4}/.test(line));
}
