import { watch } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { toFailure, usageError } from "../../failures.ts";
import { listFiles } from "../../files/workflow-folder.ts";
import { pause } from "../../interruption.ts";
import { plain } from "../../output/output.ts";
import { createDraftKeeper } from "./keep-draft.ts";
import type { Kept } from "./keep-draft.ts";

/** Editors write in several steps; so long nothing may change before a file is read. */
const SETTLE_MS = 150;

/** Adds `dev`. */
export function addDev(program: Command): void {
  program
    .command("dev")
    .description("Watch a folder of definitions and keep the drafts on the server in step")
    .argument("[folder]", "where the files are", ".")
    .addHelpText(
      "after",
      `
Each file that is saved is sent, and what keeps it from running is told. Only drafts are changed: workflows that are
active or paused are left to workflows push. A file that is half written waits until it is whole. A draft that
somebody else has changed is not overwritten.
${examples("workflowctl dev workflows")}`,
    )
    .action(
      act(async (context, folder) => {
        const { out, connect, signal } = context;
        const dir = resolve(folder);
        await listFiles(dir);
        const keep = createDraftKeeper(await connect());
        let isDirty = true;
        const watcher = watch(dir, { signal }, () => (isDirty = true));
        let trouble: Error | undefined;
        watcher.on("error", (error) => (trouble = error));
        out.note(`Watching ${plain(dir)}; Ctrl-C ends it.`);
        while (!signal.aborted) {
          if (trouble !== undefined)
            throw usageError(`${dir} cannot be watched: ${trouble.message}`);
          if (isDirty) {
            isDirty = false;
            await pause(SETTLE_MS, signal);
            if (!isDirty && !signal.aborted) await keepAll(context, dir, keep);
          } else {
            await pause(SETTLE_MS, signal);
          }
        }
      }),
    );
}

async function keepAll(
  context: Context,
  dir: string,
  keep: (path: string) => Promise<Kept | null>,
): Promise<void> {
  for (const path of await listFiles(dir)) {
    try {
      const kept = await keep(path);
      if (kept !== null) tell(context, kept);
    } catch (error) {
      if (context.signal.aborted) return;
      const failure = toFailure(error);
      // One file's trouble is not the others'; who is nobody can do nothing, though.
      if (failure === null || failure.exitCode === EXIT.notSignedIn) throw error;
      const { message, hints, requestId } = failure;
      tell(context, {
        path,
        result: "failed",
        notes: [message, ...hints, ...(requestId === null ? [] : [`request id: ${requestId}`])],
      });
    }
  }
}

function tell({ out }: Context, { path, result, notes }: Kept): void {
  if (out.isJson) return out.jsonLine({ path, result, notes });
  const style = result === "failed" || result === "conflict" ? "red" : "green";
  out.line(`${out.paint(style, result)}  ${plain(path)}`);
  for (const note of notes) out.line(`  ${plain(note)}`);
}
