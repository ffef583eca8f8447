import type { ChildProcess, StdioOptions } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import type { OsUser } from "./os-user.ts";

const run = promisify(execFile);

/** Starts a Postgres program as the right user, with a folder as its working directory. */
export type Launch = (
  program: string,
  args: string[],
  options: { cwd: string; stdio: StdioOptions },
) => ChildProcess;

/**
 * Finds a way to start programs on this machine. With `setpriv` (util-linux) the kernel interrupts the
 * program when this process dies, even after SIGKILL, so a server does not outlive its owner. For root
 * it also changes the user for good: the program gets no capability, see `folderArgument`.
 *
 * @param user the user to change to; null keeps the present one
 * @param before the program and arguments that start setpriv
 */
export async function createLauncher(
  user: OsUser | null,
  before: readonly string[] = [],
): Promise<Launch> {
  const parentDeath = ["--pdeathsig", "INT"];
  const options = user === null ? parentDeath : [...changeTo(user), ...parentDeath];
  if (await works(options)) return viaSetpriv(before, options);
  if (before.length > 0) throw new Error(`${before.join(" ")} needs setpriv (util-linux).`);
  return directly(user ?? {});
}

/**
 * The argument that tells a program its folder, which is its working directory. Root can enter a folder
 * for a program, which then needs no permission for the folders above. With the real path the program
 * would need CAP_DAC_OVERRIDE, and so the right to read and write every file of the machine.
 */
export function folderArgument(folder: string, user: OsUser | null): string {
  return user !== null && process.platform === "linux" ? "/proc/self/cwd" : folder;
}

/** Whether a program ends with success. */
export async function succeeds(launch: Launch, program: string, args: string[]): Promise<boolean> {
  const child = launch(program, args, { cwd: "/", stdio: "ignore" });
  try {
    const [code] = await once(child, "exit");
    return code === 0;
  } catch {
    return false;
  }
}

function changeTo({ uid, gid }: OsUser): string[] {
  return [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
}

/** Each program gets its own session, so its owner handles Ctrl-C in the terminal. */
function viaSetpriv(before: readonly string[], setprivOptions: readonly string[]): Launch {
  const [first = "setpriv", ...rest] = [...before, "setpriv", ...setprivOptions];
  return (program, args, options) =>
    spawn(first, [...rest, program, ...args], { ...options, detached: true, env: environment() });
}

function directly(user: Partial<OsUser>): Launch {
  return (program, args, options) =>
    spawn(program, args, { ...options, ...user, detached: true, env: environment() });
}

/** The caller's PG* variables must not reach the server, nor a locale that is not installed. */
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
