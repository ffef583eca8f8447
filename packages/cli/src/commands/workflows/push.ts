import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { ConnectionError, TimeoutError } from "@workflow/client";
import type { Workflow, WorkflowClient } from "@workflow/client";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { afterPart, CliError } from "../../failures.ts";
import { countLines, differenceOf, findChange, paintDifference } from "../../files/changes.ts";
import type { Change } from "../../files/changes.ts";
import {
  definitionOf,
  fingerprint,
  readWorkflowFile,
  writeWorkflowFile,
} from "../../files/workflow-file.ts";
import type { WorkflowFile } from "../../files/workflow-file.ts";
import { readFiles } from "../../files/workflow-folder.ts";
import { confirm } from "../../input.ts";
import { plain } from "../../output/output.ts";
import { withoutReader } from "../../output/reader.ts";
import { planProblems } from "./plan-problems.ts";

/** Adds `workflows diff`. */
export function addDiff(parent: Command): void {
  parent
    .command("diff")
    .description("Show what differs between files and the server")
    .argument("[files...]", "files of workflows; all of the folder without any")
    .option("--dir <folder>", "where the files are", ".")
    .addHelpText(
      "after",
      `\nLines with - are the server's, lines with + the file's. The exit code is 1 when something differs.\n${examples(
        "workflowctl workflows diff",
        "workflowctl workflows diff greeting.workflow.json",
      )}`,
    )
    .action(
      act(async ({ out, connect }, paths, { dir }) => {
        const files = await readFiles(paths, dir);
        const client = await connect();
        const told: object[] = [];
        for (const file of files) {
          const change = await findChange(client, file);
          const difference = differenceOf(change);
          told.push({ path: file.path, id: file.id ?? null, kind: change.kind, diff: difference });
          if (out.isJson) continue;
          if (difference !== "") out.line(paintDifference(out, difference));
          if (change.kind === "conflict") out.note(CONFLICT_NOTE(file.path));
          if (change.kind === "missing")
            out.note(`${plain(file.path)}: the server has no such workflow.`);
        }
        if (out.isJson) out.json(told);
        const differs = told.some((entry) => "kind" in entry && entry.kind !== "unchanged");
        if (differs) process.exitCode = EXIT.refused;
      }),
    );
}

const CONFLICT_NOTE = (path: string): string =>
  `${plain(path)}: somebody has changed the workflow since it was pulled.`;

/** Adds `workflows push`. */
export function addPush(parent: Command): void {
  parent
    .command("push")
    .description("Send files to the server, after showing what would change")
    .argument("[files...]", "files of workflows; all of the folder without any")
    .option("--dir <folder>", "where the files are", ".")
    .option("--yes", "do not ask; scripts need it")
    .option("--dry-run", "show what would change, and send nothing")
    .option("--overwrite", "also where somebody has changed the workflow since it was pulled")
    .option("--summary <text>", "what the change is, for the list of versions")
    .addHelpText(
      "after",
      `
A file without an id becomes a new draft, and gets the id. A workflow that somebody has changed since it was pulled is
not touched; nothing is sent then. With --overwrite the plan shows what would be lost.
${examples("workflowctl workflows push", "workflowctl workflows push --dir workflows --yes")}`,
    )
    .action(
      act(async (context, paths, options) => {
        const send = (): Promise<void> => push(context, paths, options);
        // A reader of only the plan's beginning has still asked to send all of it.
        await (options.dryRun === true ? send() : withoutReader(send));
      }),
    );
}

interface PushOptions {
  dir: string;
  yes?: true | undefined;
  dryRun?: true | undefined;
  overwrite?: true | undefined;
  summary?: string | undefined;
}

async function push(
  context: Context,
  paths: readonly string[],
  { dir, yes, dryRun, overwrite, summary }: PushOptions,
): Promise<void> {
  const { out, connect } = context;
  const files = await readFiles(paths, dir);
  const client = await connect();
  const changes: Change[] = [];
  for (const file of files) changes.push(await findChange(client, file));
  if (!out.isJson) showPlan(context, changes);
  refuseConflicts(changes, overwrite === true);
  const due = changes.filter(({ kind }) => kind !== "unchanged");
  if (dryRun === true || due.length === 0) {
    if (out.isJson) out.json(changes.map((change) => summaryOf(change)));
    return;
  }
  await refuseReadOnly(due);
  if (!(await confirm(`Send ${due.length} of them?`, yes))) {
    throw new CliError("Nothing was sent.", EXIT.refused);
  }
  await sendAll(context, client, { changes: due, summary });
}

function summaryOf({ kind, file }: Change): object {
  return { path: file.path, id: file.id ?? null, name: file.definition.name, kind };
}

function showPlan({ out }: Context, changes: readonly Change[]): void {
  for (const change of changes) {
    const { kind, file } = change;
    const difference = differenceOf(change);
    const { added, removed } = countLines(difference);
    const lines = kind === "unchanged" || kind === "missing" ? "" : `  +${added} -${removed}`;
    const status = "remote" in change ? `  (${change.remote.workflow.status})` : "";
    out.line(`${out.paint(STYLES[kind], kind.padEnd(9))}  ${plain(file.path)}${lines}${status}`);
    if (kind === "update" || kind === "conflict") out.line(paintDifference(out, difference));
  }
}

const STYLES = {
  create: "green",
  update: "yellow",
  unchanged: "gray",
  conflict: "red",
  missing: "red",
} as const;

function refuseConflicts(changes: readonly Change[], overwrite: boolean): void {
  const missing = changes.filter(({ kind }) => kind === "missing");
  const conflicts = overwrite ? [] : changes.filter(({ kind }) => kind === "conflict");
  if (missing.length + conflicts.length === 0) return;
  throw new CliError("Nothing was sent.", EXIT.conflict, {
    hints: [
      ...conflicts.map(({ file }) => CONFLICT_NOTE(file.path)),
      ...missing.map(
        ({ file }) =>
          `${file.path}: the server has no such workflow; without its id it becomes a new one.`,
      ),
      ...(conflicts.length === 0
        ? []
        : ["Take theirs with pull --force, or yours with push --overwrite."]),
    ],
    details: { changes: changes.map((change) => summaryOf(change)) },
  });
}

async function sendAll(
  { out, signal }: Context,
  client: WorkflowClient,
  { changes, summary }: { changes: readonly Change[]; summary: string | undefined },
): Promise<void> {
  const sent: object[] = [];
  for (const change of changes) {
    const { file } = change;
    const hints: string[] = [];
    try {
      signal.throwIfAborted();
      const workflow = await sendOne(client, change, summary).catch((error: unknown) => {
        if (mayBeStored(error)) hints.push(UNKNOWN_HINT);
        throw error;
      });
      sent.push({ ...summaryOf(change), id: workflow.id, version: workflow.version });
      await noteInFile(file, workflow).catch((error: unknown) => {
        hints.push(`The server has it as ${workflow.id}; pull it before you push it again.`);
        throw error;
      });
      if (!out.isJson)
        out.line(`sent       ${plain(file.path)}  v${workflow.version} (${workflow.status})`);
      for (const problem of await planProblems(client, workflow.id)) {
        out.note(`  not ready: ${plain(problem)}`);
      }
    } catch (error) {
      hints.push(`${sent.length} of ${changes.length} were sent; push again for the others.`);
      const isInterrupted = signal.aborted;
      throw afterPart(error, { subject: file.path, hints, done: sent, isInterrupted });
    }
  }
  if (out.isJson) out.json(sent);
}

const UNKNOWN_HINT =
  "No answer came, so the server may have it: look at workflows list before you push it again.";

/** Whether a request was sent and its outcome is unknown. */
function mayBeStored(error: unknown): boolean {
  const isCut = error instanceof ConnectionError || error instanceof TimeoutError;
  return isCut && error.mayHaveBeenReceived;
}

/**
 * Checks before sending whether ids can be written into the files. A workflow whose id is lost would be created
 * again by the next push.
 * @throws CliError that names the file
 */
async function refuseReadOnly(changes: readonly Change[]): Promise<void> {
  for (const { file } of changes) {
    try {
      const target = await realpath(file.path);
      await access(dirname(target), constants.W_OK);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CliError(
        `${file.path}: a push writes into the file, which is not possible there.`,
        EXIT.notWritten,
        { hints: [reason, "Nothing was sent."] },
      );
    }
  }
}

/** Sends a definition. */
export function sendOne(
  client: WorkflowClient,
  change: Change,
  summary?: string,
): Promise<Workflow> {
  const { file } = change;
  const isNew = change.kind === "create" || change.kind === "missing";
  return isNew
    ? client.workflows.create(file.definition)
    : client.workflows.update(
        change.remote.workflow.id,
        { ...file.definition, ...(summary === undefined ? {} : { changeSummary: summary }) },
        // A change between the comparison and this request loses nothing: the server refuses the request.
        { ifMatch: change.remote.etag },
      );
}

/** Writes the server's new state into the file. Edits made meanwhile are kept. */
export async function noteInFile(
  { path, definition: sent }: WorkflowFile,
  workflow: Workflow,
): Promise<void> {
  const definition = definitionOf(workflow);
  const link = { path, id: workflow.id, basedOn: fingerprint(definition) };
  const { definition: present } = await readWorkflowFile(path);
  const isSame = fingerprint(present) === fingerprint(sent);
  await writeWorkflowFile({ ...link, definition: isSame ? definition : present });
}
