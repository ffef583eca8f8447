import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CliError } from "../failures.ts";
import { usageError } from "../failures.ts";
import { readWorkflowFile, SUFFIX } from "./workflow-file.ts";
import type { WorkflowFile } from "./workflow-file.ts";

/**
 * The definitions of a folder, by name of file.
 *
 * @throws CliError when a file is no workflow, or two of them are the same one
 */
export async function readFolder(dir: string): Promise<WorkflowFile[]> {
  return readEach(await listFiles(dir));
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
  return readEach(paths);
}

/** One after the other: a folder may have more files than a process may open at once. */
async function readEach(paths: readonly string[]): Promise<WorkflowFile[]> {
  const files: WorkflowFile[] = [];
  for (const path of paths) files.push(await readWorkflowFile(path));
  refuseDoubles(files);
  return files;
}

/**
 * A name for a new file: the workflow's, in letters that every system takes.
 *
 * @param taken the paths that are taken, in small letters: on some systems Greeting and greeting are one file
 */
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
    if (!taken.has(path.toLowerCase())) return path;
  }
}

/** Two files say that they are the same workflow. */
export function doubleId(path: string, other: string): CliError {
  return usageError(
    `${path} and ${other} have the same id.`,
    "A copy becomes a workflow of its own when id and basedOn are taken out of it.",
  );
}

function refuseDoubles(files: readonly WorkflowFile[]): void {
  const seen = new Map<string, string>();
  for (const { id, path } of files) {
    if (id === undefined) continue;
    const other = seen.get(id);
    if (other !== undefined) {
      throw doubleId(other, path);
    }
    seen.set(id, path);
  }
}
