import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createScope } from "@workflow/async";
import type { Answers } from "./answers.ts";
import { longCuts, SHORT_CUTS } from "./cuts.ts";
import type { Cut } from "./cuts.ts";
import { judge } from "./judgement.ts";
import { startLoad } from "./load.ts";
import type { Load } from "./load.ts";
import { startApartSystem } from "./system.ts";
import type { ApartSystem } from "./system.ts";

/* Started by run.ts, in namespaces of its own. */

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [""] },
    seconds: { type: "string" },
  },
});
const CUT_MS = Number(values.seconds ?? (values.short ? 6 : 30)) * 1_000;
/** So long after a cut everything is accepted again, on a machine that has other work, too. */
const HEAL_MS = 90_000;
const cuts = (values.short ? SHORT_CUTS : longCuts()).filter(({ name }) =>
  values.only.some((text) => name.includes(text)),
);

const scope = createScope();
const warnings = new Map<string, number>();
const faults: string[] = [];
try {
  const startedAt = performance.now();
  const system = await startApartSystem({ receive: () => ({ body: {} }), onLine: note }, scope);
  const pids = pidsOf(system);
  const load = await startLoad(system);
  await load.untilAllAccepted(HEAL_MS);
  say(`ready after ${seconds(startedAt)} s`);
  for (const cut of cuts) await suffer(system, load, cut);
  await load.stop();
  const judgement = await judge(system, load);
  say(judgement.summary);
  for (const [refusal, count] of load.answers.refusals) say(`refused ${count} times: ${refusal}`);
  faults.push(...load.answers.faults, ...judgement.faults);
  if (pidsOf(system) !== pids) faults.push("a process was started again");
} catch (error) {
  faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
for (const [line, count] of warnings) say(`log, ${count} times: ${line}`);
for (const fault of faults) say(`FAULT ${fault}`);
say(`partitions: ${cuts.length} cuts, ${faults.length} faults`);
// All that was started ends with this process, the first of its namespace: nobody needs an orderly end of it.
process.exit(faults.length === 0 && cuts.length > 0 ? 0 : 1);

/** Cuts, waits, heals, and waits until everything is accepted again and every part has what it needs. */
async function suffer(system: ApartSystem, load: Load, cut: Cut): Promise<void> {
  const { network } = system;
  load.answers.takeCounts();
  for (const { from, to, way } of cut.links) {
    if (way !== "back") await network.cut(from, to);
    if (way !== "there") await network.cut(to, from);
  }
  await delay(CUT_MS);
  say(`${cut.name} (${CUT_MS / 1_000} s)\n  meanwhile ${describe(load.answers)}`);
  await network.heal();
  const healedAt = performance.now();
  try {
    await load.untilAllAccepted(HEAL_MS);
    const acceptedAfter = seconds(healedAt);
    await system.parts.untilReady(HEAL_MS);
    say(`  accepted again after ${acceptedAfter} s, all ready after ${seconds(healedAt)} s`);
  } catch (error) {
    faults.push(`${cut.name}: ${String(error)}`);
  }
  say(`  afterwards ${describe(load.answers)}`);
}

function describe(answers: Answers): string {
  return [...answers.takeCounts()]
    .map(
      ([kind, { accepted, refused, slowest }]) =>
        `${kind} ${accepted}+${refused} ${(slowest / 1_000).toFixed(1)} s`,
    )
    .join(", ");
}

function pidsOf({ parts }: ApartSystem): string {
  return parts.processes.map((each) => `${each.plan.name} ${each.pid() ?? 0}`).join();
}

/** Counts what the parts log by their message. */
function note(line: string): void {
  const message = /"level":"(\w+)".*"service":"(\w+)".*"msg":"([^"]*)"/.exec(line);
  const [, level, service, words] = message ?? [];
  if (level === "info") return;
  const text = message === null ? line.slice(0, 200) : `${level} ${service} ${words}`;
  warnings.set(text, (warnings.get(text) ?? 0) + 1);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}
