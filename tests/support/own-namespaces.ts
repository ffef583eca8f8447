import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";

const ALONE = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** Names of network namespaces are files, and these are seen by nobody else. */
const PRIVATE_NAMES = "mkdir -p /run/netns && mount -t tmpfs none /run/netns";
/** What is needed: a namespace, a pair of devices, and a rule that drops packets. */
const PROBE = [
  PRIVATE_NAMES,
  "ip netns add probe",
  "ip link add probe0 type veth peer name probe1 netns probe",
  "ip rule add from 192.0.2.1 to 192.0.2.2 blackhole",
].join(" && ");

const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
const env = { ...process.env, PATH };

/** Why this machine allows no namespaces of a command's own; null when it does. */
export function whyNoNamespaces(): string | null {
  if (process.platform !== "linux") return `there are no network namespaces on ${process.platform}`;
  if (process.getuid?.() !== 0) return "this user is not root";
  const probe = spawnSync("unshare", [...ALONE, "sh", "-c", PROBE], { env, encoding: "utf8" });
  if (probe.error !== undefined) return probe.error.message;
  return probe.status === 0 ? null : probe.stderr.trim() || `unshare ended with ${probe.status}`;
}

/**
 * Starts a program of Node as the first process of namespaces of its own, for the network, for processes and for
 * mounts. Everything that the program starts ends with it, and this machine keeps nothing.
 * @param folder holds its temporary files
 */
export function startInOwnNamespaces(
  program: string,
  { args, folder, stdio }: { args: readonly string[]; folder: string; stdio: StdioOptions },
): ChildProcess {
  const command = ["sh", "-c", `${PRIVATE_NAMES} && exec "$@"`, "sh"];
  return spawn("unshare", [...ALONE, ...command, process.execPath, program, ...args], {
    env: { ...env, TMPDIR: folder },
    stdio,
  });
}
