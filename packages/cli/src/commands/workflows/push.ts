import type { Command } from "@commander-js/extra-typings";
import { isApiError } from "@workflow/client";
import type { Workflow, WorkflowClient } from "@workflow/client";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
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
          if (change.kind === "missing") out.note(`${file.path}: the server has no such workflow.`);
        }
        if (out.isJson) out.json(told);
        const differs = told.some((entry) => "kind" in entry && entry.kind !== "unchanged");
        if (differs) process.exitCode = EXIT.refused;
      }),
    );
}

const CONFLICT_NOTE = (path: string): string =>
  `${path}: somebody has changed the workflow since it was pulled.`;

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
      act(async (context, paths, { dir, yes, dryRun = false, overwrite = false, summary }) => {
        const { out, connect } = context;
        const files = await readFiles(paths, dir);
        const client = await connect();
        const changes: Change[] = [];
        for (const file of files) changes.push(await findChange(client, file));
        if (!out.isJson) showPlan(context, changes);
        refuseConflicts(changes, overwrite);
        const due = changes.filter(({ kind }) => kind !== "unchanged");
        if (dryRun || due.length === 0) {
          if (out.isJson) out.json(changes.map((change) => summaryOf(change)));
          return;
        }
        if (!(await confirm(`Send ${due.length} of them?`, yes))) {
          throw new CliError("Nothing was sent.", EXIT.refused);
        }
        await sendAll(context, client, { changes: due, summary });
      }),
    );
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
    try {
      signal.throwIfAborted();
      const workflow = await sendOne(client, change, summary);
      await noteInFile(file, workflow);
      sent.push({ ...summaryOf(change), id: workflow.id, version: workflow.version });
      const problems = await planProblems(client, workflow.id);
      if (!out.isJson)
        out.line(`sent       ${plain(file.path)}  v${workflow.version} (${workflow.status})`);
      for (const problem of problems) out.note(`  not ready: ${plain(problem)}`);
    } catch (error) {
      throw withProgress(error, { file: file.path, sent: sent.length, total: changes.length });
    }
  }
  if (out.isJson) out.json(sent);
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
        // Who saves between our look and this loses nothing: the server refuses.
        { ifMatch: change.remote.etag },
      );
}

/** Puts into the file what the server has now. Whoever has written into it meanwhile keeps the changes. */
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

/** The same error, with what was sent before it. */
function withProgress(
  error: unknown,
  { file, sent, total }: { file: string; sent: number; total: number },
): unknown {
  if (!isApiError(error)) return error;
  const exitCode =
    error.status === 412 || error.status === 409
      ? EXIT.conflict
      : error.status === 401 || error.status === 403
        ? EXIT.notSignedIn
        : error.status === 429
          ? EXIT.rateLimited
          : EXIT.refused;
  return new CliError(`${file}: ${error.message}`, exitCode, {
    cause: error,
    hints: [
      ...error.problems.map(({ path, message }) => `${path.join(".")}: ${message}`),
      `${sent} of ${total} were sent; push again for the others.`,
    ],
  });
}
