import { randomBytes } from "node:crypto";
import { createScrubber } from "../src/secrets/scrubber.ts";

/**
 * Processor time of taking secrets out of texts: `node services/runs/bench/scrubber.ts`.
 *
 * 2026-11-21, 2 cores of a shared machine under other load, milliseconds for 4 MiB:
 *
 * | text                      | 3 tokens | 200 secrets of 8 KiB |
 * | ------------------------- | -------- | -------------------- |
 * | base64 of something else  | 43       | 46                   |
 * | hexadecimal digits        | 36       | 57                   |
 * | percent-encoded bytes     | 45       | 50                   |
 * | JSON in JSON              | 44       | 28                   |
 * | secrets and nothing else  | 45       | 87                   |
 *
 * To prepare a scrubber takes up to 0.5 ms for 3 tokens and 18 ms for 200 secrets of 8 KiB. One
 * regular expression with every form as an alternative, or an automaton of all forms (Aho-Corasick),
 * would have to hold some 50 MB of patterns.
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

for (const [name, secrets] of Object.entries({ "3 tokens": tokens, "200 × 8 KiB": keys })) {
  const makingMs = median(() => createScrubber(secrets));
  process.stdout.write(`${name}: prepared in ${makingMs.toFixed(2)} ms\n`);
  const scrubber = createScrubber(secrets);
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
