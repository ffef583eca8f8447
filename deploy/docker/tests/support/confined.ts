import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";

/** The user of the image, without a right or a way to gain one. */
const AS_USER =
  "setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all".split(
    " ",
  );
/** Every file below / becomes read-only for what is started; device files and /proc stay. */
const READ_ONLY = [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount -o remount,bind,ro / && exec "$@"',
  "-",
];
/** A user without rights, who gets some in a world of their own and gives them up again. */
const READ_ONLY_FOR_USERS = ["unshare", "--user", "--map-root-user", ...READ_ONLY.slice(1)];

/**
 * Starts a program as a restricted pod would: no root, no capability, no way to gain any, and, where
 * the kernel lets this user change mounts, a root file system that nobody can write.
 */
export function spawnConfined(
  command: readonly string[],
  { env, cwd }: { env: Readonly<Record<string, string>>; cwd: string },
): ChildProcess {
  const [program = "", ...args] = [...confinement(), ...command];
  return spawn(program, args, {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

function confinement(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const readOnly = isRoot ? READ_ONLY : READ_ONLY_FOR_USERS;
  const isAllowed = works([...readOnly, "true"]);
  return [...(isAllowed ? readOnly : []), ...(isRoot ? AS_USER : [])];
}

function works([program = "", ...args]: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
