import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Workflow, WorkflowClient } from "@workflow/client";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { definitionOf, fingerprint, writeWorkflowFile } from "../../files/workflow-file.ts";
import type { WorkflowFile } from "../../files/workflow-file.ts";
import { newFilePath, readFolder } from "../../files/workflow-folder.ts";
import { plain } from "../../output/output.ts";
import { withoutReader } from "../../output/reader.ts";
import { findWorkflowId, WORKFLOW_ARGUMENT } from "./find-workflow.ts";

interface Pulled {
  path: string;
  id: string;
  result: "new" | "updated" | "unchanged" | "kept";
}

/** Adds `workflows pull`. */
export function addPull(parent: Command): void {
  parent
    .command("pull")
    .description("Write workflows to files: these, or all that are not archived")
    .argument("[workflows...]", WORKFLOW_ARGUMENT)
    .option("--dir <folder>", "where the files are", ".")
    .option("--force", "replace files with changes that were never pushed")
    .addHelpText(
      "after",
      `
A workflow is a file NAME.workflow.json. It holds the id, so both may be renamed. What the visual editor keeps beside
the steps, status and secrets are not in it. A file with changes that were never pushed is kept.
${examples("workflowctl workflows pull --dir workflows", "workflowctl workflows pull Greeting")}`,
    )
    .action(
      act(async ({ out, connect }, given, { dir, force = false }) => {
        const client = await connect();
        await mkdir(dir, { recursive: true });
        const files = await readFolder(resolve(dir));
        const folder = {
          dir: resolve(dir),
          byId: new Map(files.map((file) => [file.id, file])),
          taken: new Set(files.map(({ path }) => path.toLowerCase())),
        };
        const pulled: Pulled[] = [];
        for await (const workflow of pick(client, given)) {
          const entry = await withoutReader(() => pullOne(workflow, folder, force));
          pulled.push(entry);
          if (!out.isJson) out.line(`${entry.result.padEnd(9)}  ${plain(entry.path)}`);
        }
        if (out.isJson) out.json(pulled);
        const kept = pulled.filter(({ result }) => result === "kept");
        if (kept.length === 0) return;
        throw new CliError(
          "Some files have changes that were never pushed; they were kept.",
          EXIT.conflict,
          {
            hints: [
              "See them: workflowctl workflows diff",
              "Replace them: workflowctl workflows pull --force",
            ],
            details: { kept },
          },
        );
      }),
    );
}

async function* pick(client: WorkflowClient, given: readonly string[]): AsyncGenerator<Workflow> {
  if (given.length === 0) yield* client.workflows.list({ limit: 100 });
  for (const one of given) {
    const id = await findWorkflowId(client, one);
    yield await client.workflows.get(id);
  }
}

/** The present content of the folder. */
interface Folder {
  dir: string;
  byId: ReadonlyMap<string | undefined, WorkflowFile>;
  /** The used paths, in lower case. */
  taken: Set<string>;
}

async function pullOne(workflow: Workflow, folder: Folder, force: boolean): Promise<Pulled> {
  const { id, name } = workflow;
  const definition = definitionOf(workflow);
  const basedOn = fingerprint(definition);
  const present = folder.byId.get(id);
  if (present === undefined) {
    const file = { path: newFilePath(folder.dir, name, folder.taken), id, basedOn, definition };
    folder.taken.add(file.path.toLowerCase());
    await writeWorkflowFile(file);
    return { path: file.path, id, result: "new" };
  }
  const { path } = present;
  const mine = fingerprint(present.definition);
  if (mine === basedOn && present.basedOn === basedOn) return { path, id, result: "unchanged" };
  const hasOwnChanges = mine !== present.basedOn && mine !== basedOn;
  if (hasOwnChanges && !force) return { path, id, result: "kept" };
  await writeWorkflowFile({ path, id, basedOn, definition });
  return { path, id, result: "updated" };
}
