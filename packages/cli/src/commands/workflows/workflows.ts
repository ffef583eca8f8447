import type { Command } from "@commander-js/extra-typings";
import { addActivate, addPause, addPlan, addRollback, addRun } from "./change.ts";
import { addPull } from "./pull.ts";
import { addDiff, addPush } from "./push.ts";
import { addGet, addList, addVersions } from "./read.ts";

/** Adds `workflows` and its verbs. */
export function addWorkflows(program: Command): void {
  const workflows = program
    .command("workflows")
    .alias("wf")
    .description("Definitions: read, keep as files, change, run");
  for (const add of [
    addList,
    addGet,
    addPull,
    addDiff,
    addPush,
    addPlan,
    addActivate,
    addPause,
    addRun,
    addVersions,
    addRollback,
  ]) {
    add(workflows);
  }
}
