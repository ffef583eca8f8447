import type { ConnectionOptions } from "nats";

/** The address of NATS and our credentials, in the client's terms. */
export type NatsAddress = Required<Pick<ConnectionOptions, "servers">> &
  Pick<ConnectionOptions, "user" | "pass" | "token">;

/**
 * Reads addresses separated by commas. User and password, or a token alone, stand before the host and
 * are percent-encoded. The client has one identity for all servers, so the first one given counts.
 *
 * @throws Error when they cannot be decoded; its message does not hold them
 */
export function readNatsAddress(text: string): NatsAddress {
  const servers: string[] = [];
  let identity: Omit<NatsAddress, "servers"> = {};
  for (const given of text.split(",").map((server) => server.trim())) {
    const [, scheme = "", credentials, host = ""] = /^(\w+:\/\/)?(?:(.*)@)?(.*)$/.exec(given) ?? [];
    servers.push(scheme + host);
    if (credentials !== undefined && Object.keys(identity).length === 0) {
      identity = readIdentity(credentials);
    }
  }
  return { servers, ...identity };
}

function readIdentity(credentials: string): Omit<NatsAddress, "servers"> {
  const colon = credentials.indexOf(":");
  if (colon < 0) return { token: decode(credentials) };
  return { user: decode(credentials.slice(0, colon)), pass: decode(credentials.slice(colon + 1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("The user and the password of a NATS address must be percent-encoded.");
  }
}
