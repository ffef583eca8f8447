import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { relative } from "node:path";
import type sequencing from "@jest/test-sequencer";
import { z } from "zod";

// The types are those of the CommonJS module.
const { default: TestSequencer }: typeof sequencing = createRequire(import.meta.url)(
  "@jest/test-sequencer",
);

type Test = Parameters<InstanceType<typeof TestSequencer>["sort"]>[0][number];

const listed = readFileSync(new URL("slow-files.json", import.meta.url), "utf8");

/** The seconds that the slowest test files took on two cores, by their paths in the project. */
export const SLOW_FILES: ReadonlyMap<string, number> = new Map(
  Object.entries(z.record(z.string(), z.number()).parse(JSON.parse(listed))),
);

/**
 * Jest's sequencer, by which slow files begin first, so that no worker ends with one while the others are idle.
 * Jest itself knows only the times of files that ran on the same machine before, and takes large files for slow
 * ones otherwise.
 */
export default class SlowFilesFirst extends TestSequencer {
  override async sort(tests: Test[]): Promise<Test[]> {
    const sorted = await super.sort(tests);
    // Slow files come behind those that failed the last time, and before those whose time is known.
    const unknown = sorted.filter(({ duration }) => duration === undefined);
    const [first] = unknown;
    if (first === undefined) return sorted;
    const bySlowness = unknown.toSorted((one, other) => secondsOf(other) - secondsOf(one));
    return sorted.toSpliced(sorted.indexOf(first), unknown.length, ...bySlowness);
  }
}

function secondsOf({ path, context }: Test): number {
  return SLOW_FILES.get(relative(context.config.rootDir, path)) ?? 0;
}
