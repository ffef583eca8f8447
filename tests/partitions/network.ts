import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** This process, as others see it; it is the router between all of them, and the world outside. */
export const OUTSIDE = "10.77.0.1";
const FIRST = 2;

/** Programs that reach each other through this process's namespace only. */
export interface Network {
  addressOf(name: string): string;
  /** What starts a program in the namespace of a name. */
  launcherOf(name: string): readonly string[];
  /** Lets nothing through any more that one sends to the other: no answer, and no error either. */
  cut(from: string, to: string): Promise<void>;
  /** Lets everything through again. */
  heal(): Promise<void>;
}

/**
 * Makes a namespace for each name. The router drops what is cut by a rule of routing, as that needs no
 * firewall and has a direction.
 */
export async function layNetwork(names: readonly string[]): Promise<Network> {
  const addresses = new Map(names.map((name, index) => [name, `10.77.0.${FIRST + index}`]));
  const cuts: string[][] = [];
  await ip("link", "set", "lo", "up");
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
  let number = 0;
  for (const [name, address] of addresses) {
    const device = `part${(number += 1)}`;
    await ip("netns", "add", name);
    await ip("link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", name);
    await ip("addr", "add", `${OUTSIDE}/32`, "dev", device);
    await ip("link", "set", device, "up");
    await ip("-n", name, "link", "set", "lo", "up");
    await ip("-n", name, "addr", "add", `${address}/32`, "dev", "eth0");
    await ip("-n", name, "link", "set", "eth0", "up");
    await ip("-n", name, "route", "add", OUTSIDE, "dev", "eth0", "scope", "link");
    await ip("-n", name, "route", "add", "default", "via", OUTSIDE);
    await ip("route", "add", address, "dev", device);
  }
  const addressOf = (name: string): string => {
    const address = addresses.get(name);
    if (address === undefined) throw new Error(`There is no namespace ${name}.`);
    return address;
  };
  return {
    addressOf,
    launcherOf: (name) => ["ip", "netns", "exec", name],
    async cut(from, to) {
      const rule = ["from", addressOf(from), "to", addressOf(to), "blackhole"];
      await ip("rule", "add", ...rule);
      cuts.push(rule);
    },
    async heal() {
      for (const rule of cuts.splice(0)) await ip("rule", "del", ...rule);
    },
  };
}

async function ip(...args: string[]): Promise<void> {
  await run("ip", args);
}
