import { access, constants, mkdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf, StartError } from "./start-error.ts";

/**
 * Creates the data folder when it is missing, private to its user, and returns its real path. A relative path
 * starts at the root of the project, where npm runs scripts.
 * @throws StartError that names the setting when the folder cannot be used
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
