import { isIP } from "node:net";
import type { Metadata } from "@grpc/grpc-js";
import type { Principal } from "./identity.ts";

/** The caller's program and machine, for audit records only. */
export interface ClientFacts {
  /** IPv4 or IPv6, the former never in the form `::ffff:…`. */
  readonly ipAddress?: string | undefined;
  /** Printable ASCII. */
  readonly userAgent?: string | undefined;
}

const IP_KEY = "x-client-ip";
const USER_AGENT_KEY = "x-client-user-agent";
const USER_AGENT_CHARS_MAX = 512;

/** An address from the system or a proxy, in one form; undefined for a malformed one. */
export function toIpAddress(text: string | undefined): string | undefined {
  const bare = (text ?? "").trim().replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(bare) === 0 ? undefined : bare.toLowerCase();
}

/** A user agent that can be sent and stored: of bounded length, other bytes replaced. */
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

/** The parts of a received call that identify its client. */
export interface ClientClues {
  metadata: Metadata;
  /** The other end of the connection, `address:port`. */
  peer: string;
}

/**
 * The facts of a call. Metadata is trusted only from our own services. The holder of a minted token could
 * write anything there, so the connection is used instead.
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
