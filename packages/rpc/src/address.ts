import { rm, stat } from "node:fs/promises";
import { BlockList, connect, isIP } from "node:net";
import { renewingTarget } from "./renewing-resolver.ts";

const UNIX_PREFIX = "unix:";
/** Begins an address that names the name server, too: `dns://127.0.0.1:53/host:port`. */
const DNS_PREFIX = "dns:";
/** The size of sockaddr_un.sun_path on Linux, less the closing NUL. */
const UNIX_PATH_BYTES_MAX = 107;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Where a server is reached, in the form that clients take. */
export interface BoundAddress {
  /** `host:port`, or `unix:/path`. */
  address: string;
  /** 0 for a unix socket. */
  port: number;
}

/**
 * Makes an address ready to be bound: checks its form and removes the socket file that a killed
 * process left behind. A file that a living server listens on stays, so that binding fails.
 */
export async function prepareAddress(address: string): Promise<void> {
  const path = unixPath(address);
  if (path === undefined) {
    if (!/^(\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(address)) {
      throw new Error(`"${address}" is not a gRPC address: give host:port or unix:/path.`);
    }
    return;
  }
  if (Buffer.byteLength(path) > UNIX_PATH_BYTES_MAX) {
    throw new Error(`The socket path "${path}" is longer than ${UNIX_PATH_BYTES_MAX} bytes.`);
  }
  if ((await isSocket(path)) && !(await isListening(path))) await rm(path, { force: true });
}

/**
 * Writes a client's address as grpc-js takes it. Addresses separated by commas are replicas, and so
 * are the addresses behind a name. Names are looked up at an interval.
 */
export function channelTarget(address: string): string {
  if (isList(address)) return `ipv4:${address}`;
  if (address.startsWith(DNS_PREFIX)) return renewingTarget(address.slice(DNS_PREFIX.length));
  const isName = unixPath(address) === undefined && isIP(hostOf(address)) === 0;
  return isName ? renewingTarget(address) : address;
}

/** Whether data for an address stays on this machine: loopback or a unix socket. */
export function isOnThisMachine(address: string): boolean {
  if (unixPath(address) !== undefined) return true;
  if (isList(address)) return address.split(",").every(isOnThisMachine);
  const host = hostOf(address);
  const family = isIP(host);
  // A name server decides about every other name.
  if (family === 0) return host.toLowerCase() === "localhost";
  return loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** The address under which a server bound to `requested` is reached, now that its port is known. */
export function boundAddress(requested: string, port: number): BoundAddress {
  if (unixPath(requested) !== undefined) return { address: requested, port: 0 };
  return { address: `${requested.slice(0, requested.lastIndexOf(":"))}:${port}`, port };
}

/**
 * Whether only programs of this machine reach an address. The only name that counts is `localhost`.
 */
export function isLocalAddress(address: string): boolean {
  if (unixPath(address) !== undefined) return true;
  const host = address.slice(0, address.lastIndexOf(":")).toLowerCase();
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function hostOf(address: string): string {
  return address.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

function isList(address: string): boolean {
  return unixPath(address) === undefined && address.includes(",");
}

function unixPath(address: string): string | undefined {
  return address.startsWith(UNIX_PREFIX) ? address.slice(UNIX_PREFIX.length) : undefined;
}

async function isSocket(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isSocket();
  } catch {
    return false;
  }
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
