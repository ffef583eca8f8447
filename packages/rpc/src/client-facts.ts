import { isIP } from "node:net";
import type { Metadata } from "@grpc/grpc-js";
import type { Principal } from "./identity.ts";

/** The program and the machine in front of the system: for records of who did what, nothing else. */
export interface ClientFacts {
  /** IPv4 or IPv6, the former never in the form `::ffff:…`. */
  readonly ipAddress?: string | undefined;
  /** Printable ASCII. */
  readonly userAgent?: string | undefined;
}

const IP_KEY = "x-client-ip";
const USER_AGENT_KEY = "x-client-user-agent";
const USER_AGENT_CHARS_MAX = 512;

/** An address as the system or a proxy gives it, in one form; undefined when it is none. */
export function toIpAddress(text: string | undefined): string | undefined {
  const bare = (text ?? "").trim().replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(bare) === 0 ? undefined : bare.toLowerCase();
}

/** A user agent as it can be sent on and kept: of bounded length, other bytes replaced. */
export function toUserAgent(text: string | undefined): string | undefined {
  const clean = (text ?? "")
    .slice(0, USER_AGENT_CHARS_MAX)
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .trim();
  return clean === "" ? undefined : clean;
}

/** Puts the facts into the metadata of a call. */
export function setClientFacts(metadata: Metadata, client: ClientFacts | undefined): void {
  const ipAddress = toIpAddress(client?.ipAddress);
  const userAgent = toUserAgent(client?.userAgent);
  if (ipAddress !== undefined) metadata.set(IP_KEY, ipAddress);
  if (userAgent !== undefined) metadata.set(USER_AGENT_KEY, userAgent);
}

/** What a call that was received says of itself. */
export interface ClientClues {
  metadata: Metadata;
  /** The other end of the connection, `address:port`. */
  peer: string;
}

/**
 * The facts of a call. Those of its metadata count when one of our services made it; the holder of a
 * minted token could write there what it likes, so it is known by its connection.
 */
export function readClientFacts({ type }: Principal, { metadata, peer }: ClientClues): ClientFacts {
  if (type !== "token") {
    return {
      ipAddress: toIpAddress(textOf(metadata, IP_KEY)),
      userAgent: toUserAgent(textOf(metadata, USER_AGENT_KEY)),
    };
  }
  return {
    ipAddress: toIpAddress(peer.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")),
    userAgent: toUserAgent(textOf(metadata, "user-agent")),
  };
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0];
  return typeof value === "string" ? value : undefined;
}
