import type { Stats } from "node:fs";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { isNativeError } from "node:util/types";

/** The file's stat, or null when there is none. */
export async function statIfExists(path: string): Promise<Stats | null> {
  return orNull(stat(path));
}

/** The file's text, or null when there is none. */
export async function readIfExists(path: string): Promise<string | null> {
  return orNull(readFile(path, "utf8"));
}

/** Writes a private file (mode 0600) so that readers see the old text or the new one, never half. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

async function orNull<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (isNativeError(error) && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
