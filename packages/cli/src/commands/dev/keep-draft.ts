import type { WorkflowClient } from "@workflow/client";
import { mayPass, toFailure, usageError } from "../../failures.ts";
import { findChange } from "../../files/changes.ts";
import { definitionOf, fingerprint, parseWorkflowFile } from "../../files/workflow-file.ts";
import type { WorkflowFile } from "../../files/workflow-file.ts";
import { doubleId } from "../../files/workflow-folder.ts";
import { readTextFile } from "../../input.ts";
import { planProblems } from "../workflows/plan-problems.ts";
import { noteInFile, sendOne } from "../workflows/push.ts";

/** The result for a file. */
export interface Kept {
  path: string;
  result: "created" | "updated" | "in step" | "left alone" | "conflict" | "failed";
  /** Further notes, a text each. */
  notes: string[];
}

/**
 * Synchronizes the draft of a file. Null when the file is unchanged since the last call.
 * @param paths all files; they tell when two have one id
 */
export type DraftKeeper = (path: string, paths: readonly string[]) => Promise<Kept | null>;

/** Creates the keeper of drafts. */
export function createDraftKeeper(client: WorkflowClient): DraftKeeper {
  /**
   * By file, the text that was handled, or why there is none. A failed text is tried again when it changes, or when
   * the failure may pass by itself.
   */
  const seen = new Map<string, string>();
  const links: Links = new Map();
  /** By workflow id, the file it belongs to. */
  const owners = new Map<string, string>();
  return async (path, paths) => {
    const text = await readTextFile(path).catch((error: unknown) => toFailure(error));
    const state = typeof text === "string" ? text : text.message;
    if (seen.get(path) === state) return null;
    seen.set(path, state);
    if (typeof text !== "string") throw usageError(text.message, ...text.hints);
    const written = { ...parseWorkflowFile(path, text), ...links.get(path) };
    refuseDouble(owners, written, paths);
    try {
      const kept = await keep(client, written, links);
      // The file's id and base were written into it.
      if (kept.result === "created" || kept.result === "updated") {
        const after = await readTextFile(path);
        seen.set(path, after);
        if (parses(path, after)) {
          const { id } = parseWorkflowFile(path, after);
          if (id !== undefined) owners.set(id, path);
        }
      }
      return kept;
    } catch (error) {
      if (mayPass(toFailure(error))) seen.delete(path);
      throw error;
    }
  };
}

/** Refuses two files of one workflow, which would overwrite each other at every save. */
function refuseDouble(
  owners: Map<string, string>,
  { id, path }: WorkflowFile,
  paths: readonly string[],
): void {
  for (const [owned, owner] of owners) if (owner === path) owners.delete(owned);
  if (id === undefined) return;
  const other = owners.get(id);
  if (other !== undefined && paths.includes(other)) throw doubleId(other, path);
  owners.set(id, path);
}

/** By file, the id and base that could not be written into it because it was being edited. */
type Links = Map<string, { id: string; basedOn: string }>;

async function keep(client: WorkflowClient, written: WorkflowFile, links: Links): Promise<Kept> {
  const { path } = written;
  const change = await findChange(client, written);
  switch (change.kind) {
    case "unchanged":
      return { path, result: "in step", notes: [] };
    case "conflict":
      return {
        path,
        result: "conflict",
        notes: [
          "Somebody has changed the workflow since it was pulled.",
          "See how: workflowctl workflows diff",
        ],
      };
    case "missing":
      return {
        path,
        result: "failed",
        notes: ["The server has no such workflow; without its id it becomes a new one."],
      };
    case "update": {
      const { status } = change.remote.workflow;
      if (status !== "draft") {
        return {
          path,
          result: "left alone",
          notes: [`It is ${status}; send it with workflows push.`],
        };
      }
      break;
    }
    case "create":
      break;
    default:
      change satisfies never;
  }
  const workflow = await sendOne(client, change);
  links.set(path, { id: workflow.id, basedOn: fingerprint(definitionOf(workflow)) });
  if (parses(path, await readTextFile(path))) {
    await noteInFile(change.file, workflow);
    links.delete(path);
  }
  const problems = await planProblems(client, workflow.id);
  const result = change.kind === "create" ? "created" : "updated";
  return { path, result, notes: problems.map((problem) => `not ready: ${problem}`) };
}

function parses(path: string, text: string): boolean {
  try {
    parseWorkflowFile(path, text);
    return true;
  } catch {
    return false;
  }
}
