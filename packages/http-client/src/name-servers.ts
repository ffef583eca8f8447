import { Resolver } from "node:dns/promises";

import { createHostsFile } from "./hosts-file.ts";
import { errorCodeOf } from "./transport-errors.ts";

/** Answers all addresses of a host name, in the order in which they should be tried. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/** How names are resolved. */
export interface NameServerOptions {
  /** `address` or `address:port` of each; those of the machine by default. */
  servers?: readonly string[] | undefined;
}

/** How long one name server is waited for at first; c-ares asks the next one and doubles the wait. */
const TRY_MS = 1_200;
const TRIES = 3;
/** How long the answer of the other family is waited for when one has come (RFC 8305, section 3). */
const OTHER_FAMILY_MS = 1_000;

/**
 * Asks name servers over the event loop's own sockets (c-ares). `getaddrinfo` would hold one of libuv's
 * four threads for as long as a dead name server stays silent, and files and the rest of the DNS with it.
 * A name is taken as it is, without the machine's search domains: a tenant's `api` is not our `api.svc`.
 * Names that the machine itself knows come first. The signal ends the questions at once.
 */
export function createNameServers({ servers }: NameServerOptions = {}): Resolve {
  const findOnMachine = createHostsFile();
  return async (host, signal) => {
    const name = host.replace(/\.$/, "").toLowerCase();
    const known = await findOnMachine(name);
    if (known.length > 0) return known;
    signal.throwIfAborted();
    // One for each name (55 µs): it can be cancelled alone, and sees changes of resolv.conf.
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

/** IPv4 first: a machine without IPv6 would try the other in vain. */
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

/** That a name has no address of a family is an answer. */
async function answerOf(question: Promise<string[]>): Promise<Answer> {
  try {
    return { addresses: await question, error: undefined };
  } catch (error) {
    return { addresses: [], error: errorCodeOf(error) === "ENODATA" ? undefined : error };
  }
}
