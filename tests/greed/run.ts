import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readCircumstances } from "../../bench/machine.ts";
import { CASES } from "./cases/index.ts";
import { formatReport, verdictOf } from "./support/report.ts";
import { startSession } from "./support/session.ts";
import type { Finding } from "./support/session.ts";

/*
 * The full form, each case against a new system: `npm run greed`, with `-- due-runs watchers` for some of
 * the cases only, and with `--out <folder>` for another place of the report than bench/results.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string" }, short: { type: "boolean", default: false } },
});
const unknown = positionals.filter((id) => !CASES.some((each) => each.id === id));
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(", ")}. There are ${CASES.map(({ id }) => id).join(", ")}.`,
  );
  process.exit(2);
}
// What was started ends with this process, and that only when it ends by itself.
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => process.exit(1));
const form = values.short ? "short" : "full";
const chosen = CASES.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
const circumstances = await readCircumstances();
const findings: Finding[] = [];
for (const greedCase of chosen) {
  console.log(`${greedCase.id}: ${greedCase.title} …`);
  const session = await startSession(form);
  try {
    const finding = await session.observe(greedCase);
    findings.push(finding);
    console.log(`  ${verdictOf(finding)} – ${finding.outcome}`);
    for (const failure of finding.failures) console.log(`  canary: ${failure}`);
  } finally {
    await session.stop();
  }
}
const report = formatReport(circumstances, form, findings);
console.log(`\n${report}`);
const folder = values.out ?? fileURLToPath(new URL("../../bench/results/", import.meta.url));
await mkdir(folder, { recursive: true });
const part = positionals.length === 0 ? "" : `-${positionals.toSorted().join("-")}`;
const { startedAt, commit } = circumstances;
const name = `${startedAt.slice(0, 10)}-${commit}-greed${part}${values.short ? "-short" : ""}.md`;
await writeFile(join(folder, name), report);
process.exitCode = findings.every((finding) => verdictOf(finding) === "pass") ? 0 : 1;
