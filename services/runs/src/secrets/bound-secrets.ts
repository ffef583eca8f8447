import { setImmediate as nextTurn } from "node:timers/promises";
import { isSecretHost } from "@workflow/definition";
import type { TemplateScope } from "@workflow/definition";
import { StepError } from "../domain/step-error.ts";
import type { RunSecret } from "./resolve-secrets.ts";
import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";

/*
 * A secret that is bound to hosts goes nowhere else (D66). Templates cannot read it at all, in any step,
 * unless that step asks for a grant. So a step type that is not handled here refuses bound secrets. So do
 * steps through which a value could leave in another form: an expression may transform it, a condition
 * may reveal it bit by bit, and e-mail, rows and child runs may carry it to anybody.
 */

/** What templates see as `secrets`. */
type SecretsScope = TemplateScope["secrets"];

/** Permits one step to read bound secrets; the step guards their destinations. */
export interface SecretGrant {
  /** The value of `secrets`, which notes which bound secrets are read. */
  readonly secrets: SecretsScope;
  /** Must agree to everything that is sent. */
  readonly guard: SendGuard;
}

/** Decides whether something may be sent to a host. */
export interface SendGuard {
  /**
   * Refuses a host to which a bound secret may not go: one that templates have read under the grant, or
   * one found in the texts in any form. It must be called for every host, redirects included.
   *
   * @param url parsed by the WHATWG standard; it is searched as well
   * @throws StepError SECRET_HOST_NOT_ALLOWED
   */
  assertMaySend(url: URL, texts: readonly string[]): void;
  /**
   * Refuses a host to which a bound secret that templates have read under the grant may not go. It must
   * be called before any other error about a URL: an error about a URL with a secret in it reveals
   * something of the secret.
   *
   * @param url null when it is not valid, so that it has no host
   * @throws StepError SECRET_HOST_NOT_ALLOWED
   */
  assertMayName(url: URL | null): void;
  /**
   * The hosts of each bound secret that templates have read under the grant, or that is found in the
   * texts in any form. It is for a sender that learns the host later than we do: it may send to hosts
   * that are in all of the lists. Other runs get their turns meanwhile.
   */
  hostLimits(texts: readonly string[]): Promise<(readonly string[])[]>;
}

/** The secrets of one execution of a run, with their hosts. */
export interface SecretBonds {
  /** The value of `secrets` for every template without a grant: reading a bound secret fails the step. */
  readonly secrets: SecretsScope;
  /** The values of all secrets, for services that must keep them out of their records. */
  readonly values: readonly string[];
  /** A new grant; null when no secret is bound, so that nothing has to be guarded. */
  grant(): SecretGrant | null;
  /** Whether a bound secret is found in the texts in any form. Other runs get their turns meanwhile. */
  isBoundIn(texts: readonly string[]): Promise<boolean>;
}

/** Prepares the secrets of a run. */
export function createSecretBonds(all: ReadonlyMap<string, RunSecret>): SecretBonds {
  const bound = new Map<string, BoundSecret>();
  for (const [key, { value, allowedHosts }] of all) {
    if (allowedHosts !== null) bound.set(key, { key, value, allowedHosts });
  }
  const search = new StrangerSearch();
  return {
    isBoundIn: (texts) => search.isInByTurns(texts, [...bound.values()]),
    values: Array.from(all.values(), ({ value }) => value),
    secrets: {
      get(key) {
        if (bound.has(key)) throw notForThisStep(key);
        return all.get(key)?.value;
      },
    },
    grant() {
      if (bound.size === 0) return null;
      const guard = new BoundSecretGuard([...bound.values()], search);
      return {
        guard,
        secrets: {
          get(key) {
            const secret = bound.get(key);
            if (secret !== undefined) guard.noteRead(secret);
            return all.get(key)?.value;
          },
        },
      };
    },
  };
}

interface BoundSecret {
  key: string;
  value: string;
  allowedHosts: readonly string[];
}

class BoundSecretGuard implements SendGuard {
  readonly #bound: readonly BoundSecret[];
  readonly #search: StrangerSearch;
  readonly #read = new Set<BoundSecret>();

  constructor(bound: readonly BoundSecret[], search: StrangerSearch) {
    this.#bound = bound;
    this.#search = search;
  }

  noteRead(secret: BoundSecret): void {
    this.#read.add(secret);
  }

  assertMaySend(url: URL, texts: readonly string[]): void {
    // A host that is allowed to all of them needs no search.
    const strangers = this.#bound.filter(
      ({ allowedHosts }) => !isSecretHost(allowedHosts, url.hostname),
    );
    if (strangers.length === 0) return;
    const read = strangers.find((secret) => this.#read.has(secret));
    if (read !== undefined) throw notForThisHost(`The secret ${read.key}`, read.key);
    // A value may also come without a template that names it: from the input, a row or an answer.
    if (this.#search.isIn([url.href, ...texts], strangers)) throw notForThisHost("A secret in it");
  }

  async hostLimits(texts: readonly string[]): Promise<(readonly string[])[]> {
    const unread = this.#bound.filter((secret) => !this.#read.has(secret));
    const found = await this.#search.findByTurns(texts, unread);
    return [...this.#read, ...found].map(({ allowedHosts }) => allowedHosts);
  }

  assertMayName(url: URL | null): void {
    for (const { key, allowedHosts } of this.#read) {
      const isAllowed = url !== null && isSecretHost(allowedHosts, url.hostname);
      if (!isAllowed) throw notForThisHost(`The secret ${key}`, key);
    }
  }
}

/** Searches texts for the values of secrets. Requests of a run mostly go to the same few hosts. */
class StrangerSearch {
  #last: { keys: string; scrubber: Scrubber | null } = { keys: "", scrubber: null };

  isIn(texts: readonly string[], secrets: readonly BoundSecret[]): boolean {
    const scrubber = this.#scrubberOf(secrets);
    return scrubber !== null && texts.some((text) => scrubber.text(text) !== text);
  }

  /** The same as `isIn`, in slices of work between which other runs get their turns. */
  async isInByTurns(texts: readonly string[], secrets: readonly BoundSecret[]): Promise<boolean> {
    const scrubber = this.#scrubberOf(secrets);
    if (scrubber === null) return false;
    for (const text of texts) {
      if ((await scrubber.textInTurns(text)) !== text) return true;
    }
    return false;
  }

  /**
   * The secrets found in the texts. All are searched for at once, since one search takes as long however
   * many they are. Where any is found, each half is searched for separately. Preparing a search takes
   * some 0.3 ms per secret.
   */
  async findByTurns(
    texts: readonly string[],
    secrets: readonly BoundSecret[],
  ): Promise<readonly BoundSecret[]> {
    if (!(await this.isInByTurns(texts, secrets))) return [];
    if (secrets.length === 1) return secrets;
    await nextTurn();
    const middle = Math.ceil(secrets.length / 2);
    const first = await this.findByTurns(texts, secrets.slice(0, middle));
    return [...first, ...(await this.findByTurns(texts, secrets.slice(middle)))];
  }

  #scrubberOf(secrets: readonly BoundSecret[]): Scrubber | null {
    const keys = secrets.map(({ key }) => key).join();
    if (this.#last.keys !== keys) {
      this.#last = { keys, scrubber: createScrubber(secrets.map(({ value }) => value)) };
    }
    return this.#last.scrubber;
  }
}

function notForThisHost(subject: string, secretKey?: string): StepError {
  return new StepError(
    "SECRET_HOST_NOT_ALLOWED",
    `${subject} may not be sent to this host: it is not among the secret's allowedHosts.`,
    { retryable: false, ...(secretKey === undefined ? {} : { details: { secretKey } }) },
  );
}

function notForThisStep(key: string): StepError {
  return new StepError(
    "SECRET_HOST_NOT_ALLOWED",
    `The secret ${key} is bound to hosts (allowedHosts): only an http.request to one of them may ` +
      "use it, or crypto.hmac as its key.",
    { retryable: false, details: { secretKey: key } },
  );
}
