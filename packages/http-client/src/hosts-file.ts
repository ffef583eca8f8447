import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

/** Returns the addresses of a name in the machine's own files; empty for most names. */
export type FindOnMachine = (name: string) => Promise<string[]>;

const HOSTS_FILE = "/etc/hosts";
const READ_AGAIN_MS = 5_000;
const LOOPBACK = ["127.0.0.1", "::1"];

/**
 * Looks up names in /etc/hosts, which is read again every few seconds. `localhost` and all names below are
 * this machine (RFC 6761).
 */
export function createHostsFile(path: string = HOSTS_FILE): FindOnMachine {
  let read: { at: number; hosts: Promise<Map<string, string[]>> } | undefined;
  return async (name) => {
    const now = performance.now();
    if (read === undefined || now - read.at > READ_AGAIN_MS) {
      read = { at: now, hosts: readHosts(path) };
    }
    const hosts = await read.hosts;
    const isLocal = name === "localhost" || name.endsWith(".localhost");
    return hosts.get(name) ?? (isLocal ? LOOPBACK : []);
  };
}

async function readHosts(path: string): Promise<Map<string, string[]>> {
  const hosts = new Map<string, string[]>();
  // Without the file the machine has no such names.
  const text = await readFile(path, "utf8").catch(() => "");
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), address]);
    }
  }
  return hosts;
}
