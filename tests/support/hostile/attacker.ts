import type { Route } from "@workflow/service-gateway/routes";
import { waitFor } from "@workflow/testkit";
import type { DrivenSystem } from "../driven-system.ts";
import { createLiveRequests } from "../live-requests.ts";
import { createSenders, sendRaw } from "../raw-requests.ts";
import type { LiveRequest } from "../live-requests.ts";
import type { RawAnswer } from "../raw-requests.ts";
import type { Attack, Write } from "./attacks.ts";
import { fieldOf, NAMED_OTHERWISE, namesField } from "./judge-refusal.ts";
import type { Outcome } from "./judge-refusal.ts";
import type { DescribedRequests } from "./described-requests.ts";

/** The number of attacks at a time: the services wait for Postgres most of the time. */
const CONCURRENCY = 8;

/** The attacks on a route, made from a request of it that succeeds. */
export type AttacksOn = (route: Route, live: LiveRequest) => Attack[];

/** Sends attacks to a system and keeps their answers for all tests. */
export class Attacker {
  /** A request of a route that succeeds. */
  readonly prepare: (route: Route) => Promise<LiveRequest>;
  readonly #system: DrivenSystem;
  readonly #described: DescribedRequests;
  readonly #attacksOn: AttacksOn;
  readonly #nextSender = createSenders();
  readonly #outcomes = new Map<Route, Promise<Outcome[]>>();

  constructor(system: DrivenSystem, described: DescribedRequests, attacksOn: AttacksOn) {
    this.#system = system;
    this.#described = described;
    this.#attacksOn = attacksOn;
    this.prepare = createLiveRequests(system);
  }

  /** Every attack on a route with its answer, each sent once. */
  outcomesOf(route: Route): Promise<Outcome[]> {
    const known = this.#outcomes.get(route) ?? this.#attackAll(route);
    this.#outcomes.set(route, known);
    return known;
  }

  /** Sends one request, and repeats it while the system is busy with another one. */
  send(route: Route, toRequest: Write, { headers, ...live }: LiveRequest): Promise<RawAnswer> {
    const { method } = route;
    // Sign-ins are limited by address.
    const sender = route.path.startsWith("/auth/") ? { from: this.#nextSender() } : {};
    const request = { method, headers, ...sender, ...toRequest({ headers, ...live }) };
    return waitFor(async () => {
      const answer = await sendRaw(this.#system, request);
      return isForOthers(answer) ? null : answer;
    });
  }

  async #attackAll(route: Route): Promise<Outcome[]> {
    let live = this.prepare(route);
    const attacks = this.#attacksOn(route, await live);
    const outcomesSoFar = await mapConcurrently(attacks, async (attack) => {
      const { toRequest } = attack;
      const mine = live;
      const first = {
        attack,
        isWrong: this.#isWrong(attack, await mine),
        answer: await this.send(route, toRequest, await mine),
        control: null,
      };
      if (route.method === "GET" || !mayBeOfObject(first)) return first;
      // An attack that was let in may have used the object up: the attack comes once more with the next object, and
      // then with its own.
      if (live === mine) live = this.prepare(route);
      const second = { ...first, answer: await this.send(route, toRequest, await live) };
      if (!mayBeOfObject(second)) return second;
      return { ...first, answer: await this.send(route, toRequest, await this.prepare(route)) };
    });
    return this.#withControls(route, outcomesSoFar);
  }

  /** Whether the description does not allow what is sent. */
  #isWrong({ route, isAlwaysWrong, toRequest }: Attack, live: LiveRequest): boolean {
    return isAlwaysWrong === true || this.#described.refuse(route, toRequest(live));
  }

  /**
   * A refusal that names another field may come from the values around the hostile one, which one such request for
   * each field shows.
   */
  async #withControls(route: Route, given: readonly Outcome[]): Promise<Outcome[]> {
    const controls = new Map<string, Promise<RawAnswer>>();
    const controlOf = async (attack: Attack): Promise<RawAnswer> =>
      this.send(route, attack.toControl, await this.prepare(route));
    return mapConcurrently(given, async (outcome) => {
      const { attack, answer } = outcome;
      if (namesField(attack, answer) || fieldOf(attack) in NAMED_OTHERWISE) return outcome;
      const known = controls.get(fieldOf(attack)) ?? controlOf(attack);
      controls.set(fieldOf(attack), known);
      return { ...outcome, control: await known };
    });
  }
}

/** Whether the request was not judged, because a limited number of its kind is under way. */
function isForOthers({ status, text }: RawAnswer): boolean {
  return (
    (status === 429 && text.includes('"limit":"evaluations"')) ||
    (status === 503 && text.includes("Too many exports are under way"))
  );
}

function mayBeOfObject({ attack, answer }: Pick<Outcome, "attack" | "answer">): boolean {
  // A wrong address gets no further with another object.
  if (attack.place === null) return false;
  return [401, 404, 409].includes(answer.status) || !namesField(attack, answer);
}

/** Does the work for all items, some at a time. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}
