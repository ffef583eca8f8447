import { Resolver } from "node:dns/promises";

import { createHostsFile } from "./hosts-file.ts";
import { errorCodeOf } from "./transport-errors.ts";

/** Returns all addresses of a host name, in the order of connection attempts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/** The options of name resolution. */
export interface NameServerOptions {
  /** `address` or `address:port` of each; those of the machine by default. */
  servers?: readonly string[] | undefined;
}

/** The first wait for one name server. c-ares then asks the next one and doubles the wait. */
const TRY_MS = 1_200;
const TRIES = 3;
/** The wait for the other family's answer after the first one (RFC 8305, section 3). */
const OTHER_FAMILY_MS = 1_000;

/**
 * Asks name servers over sockets of the event loop (c-ares). `getaddrinfo` would hold one of libuv's four
 * threads while a dead name server is silent, and with it files and other lookups. Search domains of the
 * machine do not apply: a tenant's `api` is not our `api.svc`. Names of the hosts file go first. The signal
 * aborts the questions at once.
 */
export function createNameServers({ servers }: NameServerOptions = {}): Resolve {
  const findOnMachine = createHostsFile();
  return async (host, signal) => {
    const name = host.replace(/\.$/, "").toLowerCase();
    const known = await findOnMachine(name);
    if (known.length > 0) return known;
    signal.throwIfAborted();
    // A resolver for each name (55 µs) can be cancelled alone, and sees changes of resolv.conf.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await askBothFamilies(resolver, name);
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  };
}

/** IPv4 goes first, since a machine without IPv6 would try the other family in vain. */
async function askBothFamilies(resolver: Resolver, name: string): Promise<string[]> {
  const questions = [answerOf(resolver.resolve4(name)), answerOf(resolver.resolve6(name))] as const;
  const first = await Promise.race(questions);
  const timer = first.addresses.length === 0 ? undefined : setTimeout(cancelRest, OTHER_FAMILY_MS);
  function cancelRest(): void {
    resolver.cancel();
  }
  try {
    const answers = await Promise.all(questions);
    const addresses = answers.flatMap((answer) => answer.addresses);
    const failure = answers.find(({ error }) => error !== undefined);
    if (addresses.length === 0 && failure !== undefined) throw failure.error;
    return addresses;
  } finally {
    clearTimeout(timer);
  }
}

interface Answer {
  addresses: string[];
  error: unknown;
}

/** "No address of this family" is an answer, not a failure. */
async function answerOf(question: Promise<string[]>): Promise<Answer> {
  try {
    return { addresses: await question, error: undefined };
  } catch (error) {
    return { addresses: [], error: errorCodeOf(error) === "ENODATA" ? undefined : error };
  }
}
