import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Puts a text in place atomically, as `replaceFile` does. */
export function writeWholeFile(path: string, text: string, mode?: number): Promise<void> {
  return replaceFile(path, (file) => file.writeFile(text), mode);
}

/**
 * Replaces a file atomically: readers see the old or the new content, never half of it. A link stays and its target
 * is replaced. Pipes and devices are written into, because replacing them would break them for everybody.
 * @param write writes the content and leaves the file open
 * @param mode the permissions; by default those of the old file, or the system's for new files
 * @returns the result of `write`
 */
export async function replaceFile<T>(
  path: string,
  write: (file: FileHandle) => Promise<T>,
  mode?: number,
): Promise<T> {
  const present = await statOf(path);
  if (present !== undefined && !present.isFile()) return writeInto(path, write);
  const target = await endOfLinks(path);
  const temporary = join(dirname(target), `.workflowctl-${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, "wx", mode ?? 0o666);
    let result: T;
    try {
      const kept = mode ?? present?.mode;
      if (kept !== undefined) await file.chmod(kept & 0o777);
      result = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
    return result;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A folder refuses the write by itself. */
async function writeInto<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, constants.O_WRONLY);
  try {
    return await write(file);
  } finally {
    await file.close();
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The target of a path's links, even when nothing exists there yet. */
async function endOfLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const folder = await realpath(dirname(path));
  const next = await readlink(path).catch(() => null);
  return next === null ? path : endOfLinks(resolve(folder, next));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
