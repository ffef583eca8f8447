import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { launchProgram, whenReady } from "./system.ts";
import type { OsUser, Outcome, StartedSystem, TestSettings } from "./system.ts";

const PROJECT = join(import.meta.dirname, "../../../..");
/** What does not belong to a checkout, or not to what is installed in it. */
const LEFT_OUT = [".git", ".cache", ".data", "coverage"];

const run = promisify(execFile);

/** A checkout with everything installed. */
export interface Clone {
  folder: string;
  /** `npm start`, waited for. */
  start(settings: TestSettings): Promise<StartedSystem>;
  /** `npm start` to its end, where it fails. */
  fail(settings: TestSettings): Promise<Outcome>;
}

/**
 * Copies this checkout by hard links where the file system allows it, which takes no space and half
 * a second. Its files are those of this one and must not be changed; its folders are its own.
 *
 * @param user who runs it, and who gets its folders unless they are to stay read-only
 */
export async function cloneProject(
  folder: string,
  { user, isReadOnly = false }: { user?: OsUser; isReadOnly?: boolean } = {},
): Promise<Clone> {
  await mkdir(folder, { recursive: true });
  const names = (await readdir(PROJECT)).filter((name) => !LEFT_OUT.includes(name));
  const paths = names.map((name) => join(PROJECT, name));
  await run("cp", ["-alH", ...paths, folder]).catch(() => run("cp", ["-aH", ...paths, folder]));
  if (user !== undefined && !isReadOnly) {
    const owner = `${user.uid}:${user.gid}`;
    await run("find", [folder, "-type", "d", "-exec", "chown", owner, "{}", "+"]);
  }
  const launch = (settings: TestSettings) =>
    // npm keeps its logs at home.
    launchProgram(
      "npm",
      ["start", "--silent"],
      { HOME: dirname(folder), ...settings },
      {
        cwd: folder,
        ...(user === undefined ? {} : { user }),
      },
    );
  return {
    folder,
    start: (settings) => whenReady(launch(settings), settings),
    fail: (settings) => launch(settings).ended,
  };
}
