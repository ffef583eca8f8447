import { watch } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { mayPass, toFailure, usageError } from "../../failures.ts";
import type { Failure } from "../../failures.ts";
import { listFiles } from "../../files/workflow-folder.ts";
import { pause } from "../../interruption.ts";
import { plain } from "../../output/output.ts";
import { withoutReader } from "../../output/reader.ts";
import { createDraftKeeper } from "./keep-draft.ts";
import type { DraftKeeper, Kept } from "./keep-draft.ts";

/** Editors save in several steps. A file is read when it was quiet for so long. */
const SETTLE_MS = 150;
/** The pause before the next try, when the server is away or limits the rate. */
const AGAIN_MS = 5_000;

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
        const watched: Watched = { dir, keep, troubles: new Map() };
        let isDirty = true;
        let againAt = Number.POSITIVE_INFINITY;
        const watcher = watch(dir, { signal }, () => (isDirty = true));
        let trouble: Error | undefined;
        watcher.on("error", (error) => (trouble = error));
        out.note(`Watching ${plain(dir)}; Ctrl-C ends it.`);
        while (!signal.aborted) {
          if (trouble !== undefined)
            throw usageError(`${dir} cannot be watched: ${trouble.message}`);
          const isDue = isDirty || performance.now() >= againAt;
          isDirty = false;
          await pause(SETTLE_MS, signal);
          if (!isDue || isDirty || signal.aborted) continue;
          const isDone = await keepAll(context, watched);
          againAt = isDone ? Number.POSITIVE_INFINITY : performance.now() + AGAIN_MS;
        }
      }),
    );
}

interface Watched {
  dir: string;
  keep: DraftKeeper;
  /** By path, the trouble that keeps a file from being sent. It is shown once. */
  troubles: Map<string, string>;
}

/** Synchronizes all files. False when a later try may succeed where this one failed. */
async function keepAll(context: Context, { dir, keep, troubles }: Watched): Promise<boolean> {
  const paths = await listFiles(dir);
  let isDone = true;
  for (const path of paths) {
    try {
      const kept = await withoutReader(() => keep(path, paths));
      if (kept === null) continue;
      troubles.delete(path);
      tell(context, kept);
    } catch (error) {
      if (context.signal.aborted) return true;
      const failure = toFailure(error);
      // A trouble with one file leaves the others alone. A lost sign-in concerns all.
      const { exitCode } = failure;
      if (exitCode === EXIT.notSignedIn || exitCode === EXIT.defect) throw error;
      if (mayPass(failure)) {
        isDone = false;
        if (troubles.get(path) === failure.message) continue;
        troubles.set(path, failure.message);
      }
      tell(context, { path, result: "failed", notes: notesOf(failure) });
    }
  }
  return isDone;
}

function notesOf(failure: Failure): string[] {
  const { message, hints, requestId } = failure;
  const again = mayPass(failure) ? [`It is tried again every ${AGAIN_MS / 1_000} s.`] : [];
  const request = requestId === null ? [] : [`request id: ${requestId}`];
  return [message, ...hints, ...again, ...request];
}

function tell({ out }: Context, { path, result, notes }: Kept): void {
  if (out.isJson) return out.jsonLine({ path, result, notes });
  const style = result === "failed" || result === "conflict" ? "red" : "green";
  out.line(`${out.paint(style, result)}  ${plain(path)}`);
  for (const note of notes) out.line(`  ${plain(note)}`);
}
