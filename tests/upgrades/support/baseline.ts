import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const FILE = join(import.meta.dirname, "../../../deploy/upgrades/baseline.json");

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
