import type { Command } from "@commander-js/extra-typings";
import { addApprove, addCancel, addRestart, addRetry } from "./change.ts";
import { addGet, addList, addTail } from "./read.ts";

/** Adds `runs` and its verbs. */
export function addRuns(program: Command): void {
  const runs = program.command("runs").description("Runs: read, follow, cancel, repeat, approve");
  for (const add of [addList, addGet, addTail, addCancel, addRetry, addRestart, addApprove])
    add(runs);
}
