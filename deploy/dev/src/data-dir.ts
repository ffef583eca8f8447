import { access, constants, mkdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf, StartError } from "./start-error.ts";

/**
 * Makes the data folder when it is missing, private to its user, and returns its real path. A
 * relative one is relative to the folder in which npm runs its scripts, the root of the project.
 *
 * @throws StartError naming the setting when the folder cannot be used
 */
export async function prepareDataDir(setting: string): Promise<string> {
  const path = resolve(setting);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(path);
  } catch (error) {
    const code = codeOf(error) ?? "unknown error";
    throw new StartError(`DATA_DIR: the folder ${path} cannot be used (${code}).`, {
      cause: error,
    });
  }
}
