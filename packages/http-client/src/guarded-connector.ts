import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";

import { buildConnector } from "undici";

import { isPublicAddress } from "./address-policy.ts";
import { HttpClientError } from "./http-client-error.ts";
import { addressNotAllowed, assertAddressAllowed } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

/** Answers all addresses of a host name, in the order in which they should be tried. */
export type Resolve = (host: string) => Promise<string[]>;

/** How connections are opened. */
interface ConnectorOptions extends TargetPolicy {
  resolve: Resolve;
  /** Name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  /** PEM certificates to trust instead of the bundled roots. */
  ca: string | undefined;
}

/** Asks the operating system, as every other program on the machine does. */
export async function resolveBySystem(host: string): Promise<string[]> {
  const answers = await systemLookup(host, { all: true });
  return answers.map((answer) => answer.address);
}

/**
 * Opens connections to allowed addresses only. This is the last line: whatever reaches undici,
 * no connection exists whose address was not judged here.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: createGuardedLookup(options.resolve, options),
    timeout: options.connectTimeoutMs,
    rejectUnauthorized: true,
    // One exchange per connection: aborting one is closing its socket and disturbs no other.
    allowH2: false,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    try {
      // A socket that is given an address never calls its lookup function.
      assertAddressAllowed(target.hostname, options);
    } catch (error) {
      process.nextTick(callback, error, null);
      return;
    }
    connect(target, callback);
  };
}

/**
 * A lookup function for sockets that judges every answer and hands out exactly the addresses that
 * were judged. The socket connects to those without asking again, so that a name which answers
 * differently the second time (DNS rebinding) gains nothing. One bad answer refuses the host: a
 * socket is free to try any of them.
 *
 * Fails with HttpClientError DNS_FAILED or ADDRESS_NOT_ALLOWED.
 */
export function createGuardedLookup(resolve: Resolve, policy: TargetPolicy): LookupFunction {
  const resolveAllowed = callbackify((host: string) => resolveAndJudge(host, resolve, policy));
  return (host, options, callback) => {
    resolveAllowed(host, (error, addresses) => {
      if (error !== null) return callback(error, "");
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

interface Address {
  address: string;
  family: number;
}

async function resolveAndJudge(
  host: string,
  resolve: Resolve,
  policy: TargetPolicy,
): Promise<[Address, ...Address[]]> {
  const [first, ...rest] = await resolveOrFail(host, resolve);
  if (first === undefined) throw dnsFailed(host);
  const answers = [first, ...rest];
  if (!policy.allowPrivate && !answers.every(isPublicAddress)) throw addressNotAllowed(host);
  return [withFamily(first), ...rest.map(withFamily)];
}

async function resolveOrFail(host: string, resolve: Resolve): Promise<string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    throw dnsFailed(host, error);
  }
}

function dnsFailed(host: string, cause?: unknown): HttpClientError {
  return new HttpClientError("DNS_FAILED", `The host name ${host} could not be resolved.`, {
    cause,
  });
}

function withFamily(address: string): Address {
  return { address, family: isIP(address) };
}
