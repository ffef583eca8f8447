import type { Workflow, WorkflowClient } from "@workflow/client";
import { isApiError } from "@workflow/client";
import { createTwoFilesPatch } from "diff";
import { plain } from "../output/output.ts";
import type { Output } from "../output/output.ts";
import { definitionOf, fingerprint, toLines } from "./workflow-file.ts";
import type { Definition, WorkflowFile } from "./workflow-file.ts";

/** What a push would do with a file. */
export type Change = { file: WorkflowFile } & (
  | { kind: "create" }
  | { kind: "unchanged"; remote: Remote }
  | { kind: "update"; remote: Remote }
  /** The workflow was changed on the server since the file was made. */
  | { kind: "conflict"; remote: Remote }
  /** The file names a workflow that does not exist. */
  | { kind: "missing" }
);

/** The present state of a workflow on the server. */
export interface Remote {
  workflow: Workflow;
  definition: Definition;
  /** The version tag of exactly this state. */
  etag: string | undefined;
}

/** Compares a file with the server. */
export async function findChange(client: WorkflowClient, file: WorkflowFile): Promise<Change> {
  if (file.id === undefined) return { kind: "create", file };
  const remote = await findRemote(client, file.id);
  if (remote === null || remote.workflow.status === "archived") return { kind: "missing", file };
  const theirs = fingerprint(remote.definition);
  if (theirs === fingerprint(file.definition)) return { kind: "unchanged", file, remote };
  return { kind: theirs === file.basedOn ? "update" : "conflict", file, remote };
}

/** The workflow with this id; null when there is none. */
async function findRemote(client: WorkflowClient, id: string): Promise<Remote | null> {
  let etag: string | undefined;
  try {
    const workflow = await client.workflows.get(id, {
      onResponse: ({ headers }) => {
        etag = headers.get("etag") ?? undefined;
      },
    });
    return { workflow, definition: definitionOf(workflow), etag };
  } catch (error) {
    if (isApiError(error, "NOT_FOUND")) return null;
    throw error;
  }
}

/**
 * The difference between the server's definition and the file's, in the form of `diff -u`. Empty when they are
 * equal.
 */
export function differenceOf(change: Change): string {
  const { file, kind } = change;
  if (kind === "unchanged" || kind === "missing") return "";
  const before = kind === "create" ? "" : toLines(change.remote.definition);
  const patch = createTwoFilesPatch(
    kind === "create" ? "/dev/null" : `server/${plain(file.definition.name)}`,
    plain(file.path),
    before,
    toLines(file.definition),
    undefined,
    undefined,
    { context: 3 },
  );
  return patch.split("\n").slice(1).join("\n");
}

/** The difference with the usual colours. */
export function paintDifference(out: Output, difference: string): string {
  return (
    difference
      // JSON has already escaped the other characters that control a terminal.
      .replaceAll(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?")
      .split("\n")
      .map((line) => {
        if (line.startsWith("@@")) return out.paint("cyan", line);
        if (line.startsWith("+")) return out.paint("green", line);
        return line.startsWith("-") ? out.paint("red", line) : line;
      })
      .join("\n")
      .trimEnd()
  );
}

/** The numbers of added and removed lines of a difference. */
export function countLines(difference: string): { added: number; removed: number } {
  const lines = difference.split("\n").filter((line) => !/^(\+\+\+|---) /.test(line));
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
