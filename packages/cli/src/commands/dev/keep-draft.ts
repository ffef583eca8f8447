import { readFile } from "node:fs/promises";
import type { WorkflowClient } from "@workflow/client";
import { usageError } from "../../failures.ts";
import { findChange } from "../../files/changes.ts";
import { definitionOf, fingerprint, parseWorkflowFile } from "../../files/workflow-file.ts";
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
 * Makes a function that brings the draft of a file in step. Null when the file is as it was the last time.
 */
export function createDraftKeeper(client: WorkflowClient): (path: string) => Promise<Kept | null> {
  /** The texts that were dealt with, by file. A text that failed is not tried again until it changes. */
  const seen = new Map<string, string>();
  const links: Links = new Map();
  return async (path) => {
    const text = await readFile(path, "utf8").catch(() => {
      throw usageError(`${path} cannot be read.`);
    });
    if (seen.get(path) === text) return null;
    seen.set(path, text);
    const kept = await keep(client, { path, text, links });
    // The id, and what the draft is based on, were written into it.
    if (kept.result === "created" || kept.result === "updated") {
      seen.set(path, await readFile(path, "utf8"));
    }
    return kept;
  };
}

/** By file what could not be written into it, since it was half written when its draft had been sent. */
type Links = Map<string, { id: string; basedOn: string }>;

async function keep(
  client: WorkflowClient,
  { path, text, links }: { path: string; text: string; links: Links },
): Promise<Kept> {
  const written = parseWorkflowFile(path, text);
  const change = await findChange(client, { ...written, ...links.get(path) });
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
  if (parses(path, await readFile(path, "utf8"))) {
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
