import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkOutCommit } from "@workflow/testkit";
import type { CheckedOutCommit } from "@workflow/testkit";
import { z } from "zod";

const ROOT = join(import.meta.dirname, "../../..");
const FILE = join(ROOT, "deploy/upgrades/baseline.json");

const baselineSchema = z.strictObject({
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  migrations: z.record(z.string(), z.int()),
});

/** The commit that this tree has to stand beside, and the newest migration of each service there. */
export type Baseline = z.output<typeof baselineSchema>;

/** Reads deploy/upgrades/baseline.json; docs/ops/upgrades.md says when it changes. */
export async function readBaseline(): Promise<Baseline> {
  return baselineSchema.parse(JSON.parse(await readFile(FILE, "utf8")));
}

/**
 * Takes the baseline's files out of the history, with the packages that are installed here: those of the
 * project itself are the baseline's own.
 *
 * @throws Error when the history lacks the baseline
 */
export async function checkOutBaseline(): Promise<CheckedOutCommit> {
  const { commit } = await readBaseline();
  const exists = promisify(execFile)("git", ["-C", ROOT, "cat-file", "-e", `${commit}^{commit}`]);
  await exists.catch((cause: unknown) => {
    const text = `The history lacks the baseline ${commit}: clone all of it (git fetch --unshallow).`;
    throw new Error(text, { cause });
  });
  return await checkOutCommit({ commit, packages: "of this tree" });
}
