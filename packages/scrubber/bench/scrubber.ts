import { randomBytes } from "node:crypto";
import { createScrubber } from "../src/index.ts";

/**
 * Processor time of taking secrets out of texts: `node packages/scrubber/bench/scrubber.ts`.
 *
 * 2026-11-22, 2 cores of a shared machine under heavy load. The first number of each pair is without the
 * forms that came last (upper and lower case, base64 twice, percent-encoding twice, UTF-16), measured one
 * after the other; milliseconds for 4 MiB, the worst of the texts below without the last:
 *
 * | secrets     | 4 MiB     | 188 characters | prepared, a secret |
 * | ----------- | --------- | -------------- | ------------------ |
 * | 1 token     | 89 → 74   | 1.4 → 2.0 µs   | 0.2 → 1.5 ms       |
 * | 10 tokens   | 70 → 64   | 1.9 → 2.3 µs   | 0.06 → 0.4 ms      |
 * | 100 tokens  | 61 → 62   | 1.2 → 2.2 µs   | 0.09 → 0.3 ms      |
 * | 200 × 8 KiB | 84 → 109  | 2.2 → 3.3 µs   | 0.05 → 0.4 ms      |
 *
 * One budget for a whole value, in place of one for each text, changes none of it: 1 MiB takes 4 to 6 ms as
 * before, 188 characters 0.6 to 0.8 µs (2026-11-22, same machine, less busy).
 *
 * The idle machine needs 42 ms for 4 MiB, with any number of tokens. So a result costs what it did; who
 * pays for the forms is each execution of a run that uses secrets, with some 0.1 ms a secret once the code
 * is warm. Runs without secrets prepare and search nothing. One regular expression with every form as an
 * alternative, or an automaton of all forms (Aho-Corasick), would have to hold some 100 MB of patterns.
 */
const TEXT_UNITS = 4 * 1024 * 1024;
const ROUNDS = 5;

const tokens = ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "postgres://user:p%40ss@db/shop", "hunter2!"];
const keys = Array.from({ length: 200 }, () => randomBytes(6_144).toString("base64"));
const nested = JSON.stringify(JSON.stringify({ a: '"x\\y" é '.repeat(TEXT_UNITS / 16) }));

const TEXTS: Readonly<Record<string, string>> = {
  "base64 of something else": randomBytes(TEXT_UNITS * 0.75).toString("base64"),
  "hexadecimal digits": randomBytes(TEXT_UNITS / 2).toString("hex"),
  "percent-encoded bytes": encodeURIComponent(randomBytes(TEXT_UNITS / 3).toString("latin1")),
  "JSON in JSON": nested,
  "secrets and nothing else": [...keys, ...keys, ...keys].join(" "),
};

const tokenOf = (): string => `sk_live_${randomBytes(18).toString("base64url")}`;
const tokensOf = (count: number): string[] => Array.from({ length: count }, tokenOf);
const SMALL = JSON.stringify({ id: "0197f2a0-5a5a", status: "open", text: "a word ".repeat(20) });

const SETS = {
  "1 token": tokensOf(1),
  "3 tokens": tokens,
  "10 tokens": tokensOf(10),
  "100 tokens": tokensOf(100),
  "200 × 8 KiB": keys,
};

for (const [name, secrets] of Object.entries(SETS)) {
  const makingMs = median(() => createScrubber(secrets));
  process.stdout.write(`${name}: prepared in ${makingMs.toFixed(2)} ms\n`);
  const scrubber = createScrubber(secrets);
  const smallMs = median(() => {
    for (let count = 0; count < 10_000; count += 1) scrubber?.text(SMALL);
  });
  process.stdout.write(`  ${SMALL.length} characters: ${(smallMs / 10).toFixed(1)} µs\n`);
  for (const [kind, text] of Object.entries(TEXTS)) {
    const cut = text.slice(0, TEXT_UNITS);
    const scrubbingMs = median(() => scrubber?.text(cut));
    process.stdout.write(`  4 MiB of ${kind}: ${scrubbingMs.toFixed(0)} ms\n`);
  }
}

/** Processor time in milliseconds; the first round, which compiles, is not counted. */
function median(work: () => unknown): number {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) times.push((user + system) / 1_000);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
