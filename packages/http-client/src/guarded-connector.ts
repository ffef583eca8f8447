import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { callbackify } from "node:util";

import { buildConnector } from "undici";

import { HttpClientError } from "./http-client-error.ts";
import type { Lookup } from "./lookups.ts";
import { assertAddressAllowed, isAddressAllowed } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

/** The options of new connections. */
export interface ConnectorOptions extends TargetPolicy {
  lookup: Lookup;
  /** The limit of name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  /** PEM certificates to trust instead of the bundled roots. */
  ca: string | undefined;
}

/** The time for each of several addresses. Node's own 250 ms is less than a round trip across the world. */
const ADDRESS_ATTEMPT_MS = 1_000;

/** Failures to resolve are reported at multiples of this time, so that their cause cannot be timed. */
const FAILURE_STEP_MS = 500;

/**
 * Opens connections to allowed addresses only. This check is the last one: undici has no connection whose
 * address was not judged here.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: createGuardedLookup(options.lookup, options),
    timeout: options.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    rejectUnauthorized: true,
    // One exchange per connection: an abort closes the socket and affects no other exchange.
    allowH2: false,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    try {
      // A socket with a literal address never calls its lookup function.
      assertAddressAllowed(target.hostname, options);
    } catch (error) {
      process.nextTick(callback, error, null);
      return;
    }
    connect(target, callback);
  };
}

/**
 * Creates a lookup function for sockets that judges every answer and returns exactly the judged addresses.
 * The socket connects to those without another lookup, so DNS rebinding has no effect: a second, different
 * answer is never asked for. One bad address refuses the host, since a socket may try any of them.
 *
 * Fails with HttpClientError DNS_FAILED. Where private addresses are refused, a name with a private address
 * fails like an unknown name, with the same words and the same time. Otherwise tenants would learn which
 * names exist inside.
 */
export function createGuardedLookup(lookup: Lookup, policy: TargetPolicy): LookupFunction {
  const lookUpAllowed = callbackify((host: string) => lookUpAndJudge(host, lookup, policy));
  return (host, options, callback) => {
    lookUpAllowed(host, (error, addresses) => {
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

async function lookUpAndJudge(
  host: string,
  lookup: Lookup,
  policy: TargetPolicy,
): Promise<[Address, ...Address[]]> {
  const startedAt = performance.now();
  const { answers, cause } = await answersOrFailure(host, lookup);
  const [first, ...rest] = answers;
  if (first !== undefined && answers.every((address) => isAddressAllowed(address, policy))) {
    return [withFamily(first), ...rest.map(withFamily)];
  }
  if (!policy.allowPrivate) await pauseToNextStep(startedAt);
  throw dnsFailed(host, policy, cause);
}

async function answersOrFailure(
  host: string,
  lookup: Lookup,
): Promise<{ answers: string[]; cause?: unknown }> {
  try {
    return { answers: await lookup(host) };
  } catch (cause) {
    return { answers: [], cause };
  }
}

function pauseToNextStep(startedAt: number): Promise<void> {
  const elapsedMs = performance.now() - startedAt;
  return pause(Math.ceil(Math.max(elapsedMs, 1) / FAILURE_STEP_MS) * FAILURE_STEP_MS - elapsedMs);
}

function dnsFailed(host: string, { allowPrivate }: TargetPolicy, cause: unknown): HttpClientError {
  const message = allowPrivate
    ? `The host name ${host} could not be resolved.`
    : `The host name ${host} could not be resolved to addresses of the public internet.`;
  return new HttpClientError("DNS_FAILED", message, { cause });
}

function withFamily(address: string): Address {
  return { address, family: isIP(address) };
}
