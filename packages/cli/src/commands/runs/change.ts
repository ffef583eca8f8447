import type { Command } from "@commander-js/extra-typings";
import type { WorkflowClient } from "@workflow/client";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { afterPart, CliError, usageError } from "../../failures.ts";
import { readJsonArgument, readObjectArgument } from "../../input.ts";
import { objectId, objectIds } from "../../options.ts";
import { plain } from "../../output/output.ts";
import { withoutReader } from "../../output/reader.ts";
import { tailRun } from "./tail-run.ts";

/** Adds `runs cancel`. */
export function addCancel(parent: Command): void {
  parent
    .command("cancel")
    .description("Cancel runs that have not ended")
    .argument("<runs...>", "ids of runs", objectIds)
    .action(
      act(async (context, ids) => {
        const client = await context.connect();
        await withoutReader(() => cancelAll(context, client, ids));
      }),
    );
}

async function cancelAll(
  { out, signal }: Context,
  client: WorkflowClient,
  ids: readonly string[],
): Promise<void> {
  const done: unknown[] = [];
  for (const id of ids) {
    try {
      signal.throwIfAborted();
      const answer = await client.runs.cancel(id);
      done.push(answer);
      if (!out.isJson) out.line(`run ${answer.id} is ${out.status(answer.status)}`);
    } catch (error) {
      const isInterrupted = signal.aborted;
      const hints = ids.length === 1 ? [] : [`${done.length} of ${ids.length} were cancelled.`];
      throw afterPart(error, { subject: id, hints, done, isInterrupted });
    }
  }
  if (out.isJson) out.json(done);
}

/** Adds `runs retry`. */
export function addRetry(parent: Command): void {
  parent
    .command("retry")
    .description("Run a failed run again, from the step that failed")
    .argument("<run>", "id of a run", objectId)
    .option("--tail", "follow the new run to its end")
    .addHelpText("after", examples("workflowctl runs retry run_01kdvwgvx8f6m2k4j8h0g3c5b7 --tail"))
    .action(
      act(async (context, id, { tail }) => {
        const client = await context.connect();
        await showRepeated(context, client, { answer: await client.runs.retry(id), tail });
      }),
    );
}

/** Adds `runs restart`. */
export function addRestart(parent: Command): void {
  parent
    .command("restart")
    .description("Run an ended run again, from any of its steps")
    .argument("<run>", "id of a run", objectId)
    .requiredOption("--from <step>", "id or path of the first step that is executed again")
    .option("--override-input <json>", "laid over the input: JSON, @file, or - for standard input")
    .option("--tail", "follow the new run to its end")
    .addHelpText("after", examples("workflowctl runs restart run_01kdvwgvx8… --from charge --tail"))
    .action(
      act(async (context, id, { from, overrideInput, tail }) => {
        const client = await context.connect();
        const answer = await client.runs.restart(id, {
          fromStepId: from,
          ...(overrideInput === undefined
            ? {}
            : { overrideInput: await readObjectArgument("--override-input", overrideInput) }),
        });
        await showRepeated(context, client, { answer, tail });
      }),
    );
}

interface Repeated {
  answer: { newRunId: string; restartFromStepId: string | null };
  tail: boolean | undefined;
}

async function showRepeated(
  context: Context,
  client: WorkflowClient,
  { answer, tail }: Repeated,
): Promise<void> {
  const { out } = context;
  if (tail === true) {
    out.note(`run ${answer.newRunId}`);
    return tailRun(context, client, answer.newRunId);
  }
  const from = answer.restartFromStepId;
  out.show(answer, [
    `run ${answer.newRunId} was started${from === null ? "" : ` from ${plain(from)}`}`,
  ]);
}

/** Adds `runs approve`. */
export function addApprove(parent: Command): void {
  parent
    .command("approve")
    .description("Decide what a run waits for: approve it, or reject it")
    .argument("<run>", "id of a run", objectId)
    .option("--approval <id>", "which one, where a run waits for several", objectId)
    .option("--reject", "reject instead")
    .option("--comment <text>", "what there is to say about it")
    .option("--data <json>", "the form's values: JSON, @file, or - for standard input")
    .addHelpText(
      "after",
      examples(
        'workflowctl runs approve run_01kdvwgvx8… --comment "Looks good"',
        "workflowctl runs approve run_01kdvwgvx8… --reject",
      ),
    )
    .action(
      act(async ({ out, connect }, runId, { approval, reject, comment, data }) => {
        const client = await connect();
        const id = approval ?? (await findWaiting(client, runId));
        const decided = await client.approvals.decide(runId, id, {
          decision: reject === true ? "rejected" : "approved",
          ...(comment === undefined ? {} : { comment }),
          ...(data === undefined ? {} : { data: await readJsonArgument("--data", data) }),
        });
        out.show(decided, [
          `${decided.id} (${plain(decided.path)}) is ${out.status(decided.status)}`,
        ]);
      }),
    );
}

/** The one approval that a run waits for. */
async function findWaiting(client: WorkflowClient, runId: string): Promise<string> {
  const all = await client.approvals.listOfRun(runId).all();
  const waiting = all.filter(({ status }) => status === "waiting");
  const [only] = waiting;
  if (only === undefined) throw new CliError("The run waits for no approval.", EXIT.conflict);
  if (waiting.length === 1) return only.id;
  throw usageError(
    `The run waits for ${waiting.length} approvals; name one with --approval.`,
    ...waiting.slice(0, 20).map(({ id, path, message }) => `${id}  ${path}  ${message}`),
  );
}
