import type { WorkflowClient } from "@workflow/client";
import { mayPass, toFailure, usageError } from "../../failures.ts";
import { findChange } from "../../files/changes.ts";
import { definitionOf, fingerprint, parseWorkflowFile } from "../../files/workflow-file.ts";
import type { WorkflowFile } from "../../files/workflow-file.ts";
import { doubleId } from "../../files/workflow-folder.ts";
import { readTextFile } from "../../input.ts";
import { planProblems } from "../workflows/plan-problems.ts";
import { noteInFile, sendOne } from "../workflows/push.ts";

/** What became of a file. */
export interface Kept {
  path: string;
  result: "created" | "updated" | "in step" | "left alone" | "conflict" | "failed";
  /** What else there is to know, a text each. */
  notes: string[];
}

/**
 * Brings the draft of a file in step. Null when the file is as it was the last time.
 *
 * @param paths all files that there are, by which two with the same id are told
 */
export type DraftKeeper = (path: string, paths: readonly string[]) => Promise<Kept | null>;

/** Begins to keep drafts in step. */
export function createDraftKeeper(client: WorkflowClient): DraftKeeper {
  /**
   * The texts that were dealt with, by file, or why there is none. What failed is not tried again until it changes,
   * but for what may pass by itself.
   */
  const seen = new Map<string, string>();
  const links: Links = new Map();
  /** Which file a workflow belongs to, by its id. */
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
      // The id, and what the draft is based on, were written into it.
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

/** Two files of one workflow would overwrite each other at every save. */
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

/** By file what could not be written into it, since it was half written when its draft had been sent. */
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
