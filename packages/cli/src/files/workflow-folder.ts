import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CliError } from "../failures.ts";
import { usageError } from "../failures.ts";
import { readWorkflowFile, SUFFIX } from "./workflow-file.ts";
import type { WorkflowFile } from "./workflow-file.ts";

/**
 * The definitions of a folder, ordered by file name.
 * @throws CliError when a file is no workflow, or two files have one id
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

/** The named files, or all of the folder. */
export async function readFiles(paths: readonly string[], dir: string): Promise<WorkflowFile[]> {
  if (paths.length === 0) {
    const files = await readFolder(dir);
    if (files.length === 0) throw usageError(`${dir} holds no file that ends in ${SUFFIX}.`);
    return files;
  }
  return readEach(paths);
}

/** Reads one file at a time: a folder may have more files than a process may open. */
async function readEach(paths: readonly string[]): Promise<WorkflowFile[]> {
  const files: WorkflowFile[] = [];
  for (const path of paths) files.push(await readWorkflowFile(path));
  refuseDoubles(files);
  return files;
}

/**
 * A path for a new file, made of the workflow's name in characters that every system allows.
 * @param taken the used paths in lower case: some systems do not distinguish Greeting from greeting
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

/** The error for two files with one workflow id. */
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
