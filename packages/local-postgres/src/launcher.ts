import type { ChildProcess, StdioOptions } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { OsUser } from "./os-user.ts";

const run = promisify(execFile);

/** Starts one of the Postgres programs as the right user. */
export type Launch = (program: string, args: string[], stdio: StdioOptions) => ChildProcess;

/**
 * Finds out how programs can be started here.
 *
 * With `setpriv` (util-linux) the kernel interrupts the program when this process dies, also by
 * SIGKILL, so a server does not outlive its owner. For root it also changes the user and, when
 * `paths` lie below a folder that only root can enter, keeps the capability to pass it.
 *
 * @param user to change to, or null to stay who we are
 * @param paths files and folders that the program has to reach
 * @throws Error when the user cannot reach one of the paths and nothing can be done about it
 */
export async function createLauncher(user: OsUser | null, paths: string[]): Promise<Launch> {
  const barrier = user === null ? null : await findBarrier(paths);
  const parentDeath = ["--pdeathsig", "INT"];
  if (user === null) {
    return (await works(parentDeath)) ? viaSetpriv(parentDeath) : directly({});
  }
  const change = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const pass = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const options = [...change, ...(barrier === null ? [] : pass), ...parentDeath];
  if (await works(options)) return viaSetpriv(options);
  if (barrier !== null) {
    throw new Error(
      `Postgres has to run as the user with id ${user.uid}, which may not enter ${barrier}. ` +
        `Install setpriv (util-linux), or choose a data folder that every user can reach.`,
    );
  }
  return directly(user);
}

/** Each program gets a session of its own: Ctrl-C in the terminal is for its owner to handle. */
function viaSetpriv(options: string[]): Launch {
  return (program, args, stdio) =>
    spawn("setpriv", [...options, program, ...args], { stdio, detached: true, env: environment() });
}

function directly(user: Partial<OsUser>): Launch {
  return (program, args, stdio) =>
    spawn(program, args, { stdio, detached: true, env: environment(), ...user });
}

/** No PG* variable of the caller's may reach the server, nor a locale that is not installed. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
}

async function works(setprivOptions: string[]): Promise<boolean> {
  try {
    await run("setpriv", [...setprivOptions, "true"]);
    return true;
  } catch {
    return false;
  }
}

/** The first folder above the paths that not everybody may enter, or null. */
async function findBarrier(paths: string[]): Promise<string | null> {
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if (((await stat(folder)).mode & 0o001) === 0) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}
