import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { usageError } from "../failures.ts";
import { readWorkflowFile, SUFFIX } from "./workflow-file.ts";
import type { WorkflowFile } from "./workflow-file.ts";

/**
 * The definitions of a folder, by name of file.
 *
 * @throws CliError when a file is no workflow, or two of them are the same one
 */
export async function readFolder(dir: string): Promise<WorkflowFile[]> {
  const files = await Promise.all((await listFiles(dir)).map(readWorkflowFile));
  refuseDoubles(files);
  return files;
}

/** The paths of all definitions in a folder, in order. */
export async function listFiles(dir: string): Promise<string[]> {
  try {
    const names = await readdir(dir);
    return names
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith("."))
      .sort()
      .map((name) => join(dir, name));
  } catch (error) {
    throw usageError(`${dir} cannot be read: ${error instanceof Error ? error.message : ""}`);
  }
}

/** The files named, or all of the folder. */
export async function readFiles(paths: readonly string[], dir: string): Promise<WorkflowFile[]> {
  if (paths.length === 0) {
    const files = await readFolder(dir);
    if (files.length === 0) throw usageError(`${dir} holds no file that ends in ${SUFFIX}.`);
    return files;
  }
  const files = await Promise.all(paths.map(readWorkflowFile));
  refuseDoubles(files);
  return files;
}

/** A name for a new file: the workflow's, in letters that every system takes, and unlike those that are taken. */
export function newFilePath(dir: string, name: string, taken: ReadonlySet<string>): string {
  const slug =
    name
      .normalize("NFKD")
      .toLowerCase()
      .replaceAll(/\p{M}/gu, "")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, 60)
      .replaceAll(/^-|-$/g, "") || "workflow";
  for (let number = 1; ; number += 1) {
    const path = join(dir, `${slug}${number === 1 ? "" : `-${number}`}${SUFFIX}`);
    if (!taken.has(path)) return path;
  }
}

function refuseDoubles(files: readonly WorkflowFile[]): void {
  const seen = new Map<string, string>();
  for (const { id, path } of files) {
    if (id === undefined) continue;
    const other = seen.get(id);
    if (other !== undefined) {
      throw usageError(
        `${other} and ${path} have the same id.`,
        "A copy becomes a workflow of its own when id and basedOn are taken out of it.",
      );
    }
    seen.set(id, path);
  }
}
