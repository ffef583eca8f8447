import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { whenUndisturbed } from "./undisturbed.ts";

const ALONE = "this gateway counts for rate limits by itself\n";
const SILENCE = "another gateway was silent for too long: its rate limits move\n";

/** The lines on the standard error. */
let reports: string[];
let logLines: string[];
beforeEach(() => {
  reports = [];
  logLines = [];
  jest.spyOn(process.stderr, "write").mockImplementation((text) => {
    reports.push(String(text));
    return true;
  });
});
afterEach(() => void jest.restoreAllMocks());

/** Plays rounds, each by its own function; the last function is repeated. */
function play(missed: number, ...rounds: (() => void)[]) {
  let played = 0;
  const outcome = whenUndisturbed(
    async () => {
      const round = rounds[Math.min(played, rounds.length - 1)];
      played += 1;
      round?.();
    },
    { logLines, missed },
  );
  return { outcome, playedRounds: () => played };
}

function fail(...lines: string[]): () => void {
  return () => {
    logLines.push(...lines);
    throw new Error(`failed after ${lines.length} lines`);
  };
}

function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  throw new Error("failed after standing still");
}

describe("a round of a limiter test", () => {
  it.each<[string, number, () => void, RegExp]>([
    [
      "a gateway said that it was alone",
      0,
      fail("all is well\n", ALONE),
      /disturbed: this gateway counts/,
    ],
    ["a gateway got no answer", 0, fail("the others do not answer\n"), /disturbed: the others/],
    [
      "more gateways were missed than the test stops",
      1,
      fail(SILENCE, SILENCE),
      /disturbed: 2 gateways were missed, not 1/,
    ],
    ["this process stood still", 0, standStill, /disturbed: this process stood still for \d+ ms/],
  ])("that fails is reported and played again when %s", async (_, missed, disturbed, report) => {
    const { outcome, playedRounds } = play(missed, disturbed, () => {
      // A round does not answer for messages of the round before.
      expect(logLines).toEqual([]);
    });
    await outcome;
    expect(playedRounds()).toBe(2);
    expect(reports).toEqual([expect.stringMatching(report)]);
    expect(reports[0]).toMatch(/^Round 1 of a limiter test failed, /);
  });

  it.each<[string, number, () => void]>([
    ["nothing was said", 0, fail()],
    ["no more was said than always", 0, fail("all is well\n")],
    ["as many gateways were missed as the test stops", 2, fail(SILENCE, SILENCE)],
  ])("that fails is not played again when %s", async (_, missed, round) => {
    const { outcome, playedRounds } = play(missed, round, () => {});
    await expect(outcome).rejects.toThrow("failed after");
    expect(playedRounds()).toBe(1);
    expect(reports).toEqual([]);
  });

  it("that fails undisturbed after a disturbed one counts", async () => {
    const { outcome, playedRounds } = play(0, fail(ALONE), fail());
    await expect(outcome).rejects.toThrow("failed after 0 lines");
    expect(playedRounds()).toBe(2);
    expect(reports).toHaveLength(1);
  });

  it("counts as it is when it is the fourth that was disturbed, and each is reported", async () => {
    const { outcome, playedRounds } = play(
      0,
      fail(ALONE),
      fail(ALONE),
      fail(ALONE),
      fail(ALONE, ALONE),
    );
    await expect(outcome).rejects.toThrow("failed after 2 lines");
    expect(playedRounds()).toBe(4);
    expect(reports.map((report) => report.split(",")[0])).toEqual(
      [1, 2, 3, 4].map((round) => `Round ${round} of a limiter test failed`),
    );
  });

  it("that passes is not played again, and reported when it was disturbed", async () => {
    const quiet = play(0, () => {});
    await quiet.outcome;
    expect(reports).toEqual([]);
    const disturbed = play(0, () => void logLines.push(ALONE));
    await disturbed.outcome;
    expect([quiet.playedRounds(), disturbed.playedRounds()]).toEqual([1, 1]);
    expect(reports).toEqual([expect.stringMatching(/^Round 1 of a limiter test passed, /)]);
  });
});
