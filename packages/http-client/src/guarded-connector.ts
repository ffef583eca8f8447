import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { callbackify } from "node:util";

import { buildConnector } from "undici";

import { HttpClientError } from "./http-client-error.ts";
import type { Lookup } from "./lookups.ts";
import { assertAddressAllowed, isAddressAllowed } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

/** How connections are opened. */
export interface ConnectorOptions extends TargetPolicy {
  lookup: Lookup;
  /** Name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  /** PEM certificates to trust instead of the bundled roots. */
  ca: string | undefined;
}

/** How long one of several addresses is tried; Node's own 250 ms is less than a way round the world. */
const ADDRESS_ATTEMPT_MS = 1_000;

/** Failures to resolve are told at multiples of this, whatever they come from. */
const FAILURE_STEP_MS = 500;

/**
 * Opens connections to allowed addresses only. This is the last line: whatever reaches undici,
 * no connection exists whose address was not judged here.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: createGuardedLookup(options.lookup, options),
    timeout: options.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
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
 * Fails with HttpClientError DNS_FAILED. Where private addresses are refused, it tells a name that has
 * one from a name that does not exist neither by its words nor by its time: else tenants would learn
 * which names exist inside.
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
