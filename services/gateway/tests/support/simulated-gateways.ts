import type { Clock } from "../../src/rate-limits/clock.ts";
import type { Claimed, GatewayMessage, Outcome } from "../../src/rate-limits/messages.ts";
import { SimulatedProcess, SimulatedWorld } from "./simulated-world.ts";

/** What the simulation has to do with a gateway. */
export interface Participant {
  claim(claims: readonly Claimed[]): Outcome | Promise<Outcome>;
  receive(message: GatewayMessage): void;
  /** There is a connection. */
  connect(): void;
  /** It has heard somebody. */
  hasCompany(): boolean;
  /** Says goodbye. */
  leave(): void;
}

export type StartParticipant = (
  self: string,
  clock: Clock,
  send: (to: string | null, message: GatewayMessage) => boolean,
) => Participant;

interface Simulated {
  address: string;
  process: SimulatedProcess;
  participant: Participant;
  startedAt: number;
  /** It was killed, or has said goodbye. */
  isGone: boolean;
  /** How many requests have no answer yet. */
  waiting: number;
  /** When it stood still or had no connection. */
  hindrances: { from: number; until: number }[];
}

/** For so long a gateway that starts serves nobody until it has heard another one. */
const HEARING_MS = 2_100;

/** What came of a request. */
export interface Settled {
  gateway: number;
  key: string;
  askedAt: number;
  settledAt: number;
  outcome: Outcome;
}

/** Gateways, the server between them, and those who ask them. */
export class SimulatedGateways {
  readonly world = new SimulatedWorld();
  readonly settled: Settled[] = [];
  readonly gateways: Simulated[] = [];
  #started = 0;
  readonly #start: StartParticipant;
  readonly #server = new SimulatedProcess(this.world);

  constructor(start: StartParticipant) {
    this.#start = start;
  }

  join(): void {
    const address = `gateway-${this.#started}`;
    this.#started += 1;
    const process = new SimulatedProcess(this.world);
    const send = (to: string | null, message: GatewayMessage): boolean => {
      this.#send(process, to, message);
      return true;
    };
    this.world.plan(this.world.now, "world", process, () => {
      const participant = this.#start(address, process.clock, send);
      const startedAt = this.world.now;
      const state = { startedAt, isGone: false, waiting: 0, hindrances: [] };
      this.gateways.push({ address, process, participant, ...state });
      participant.connect();
    });
  }

  /** The numbers of those that were not killed and have not left. */
  get live(): number[] {
    return [...this.gateways.keys()].filter((gateway) => this.gateways[gateway]?.isGone === false);
  }

  /** How many requests to those that live have no answer yet. */
  get waiting(): number {
    return this.live.reduce((sum, gateway) => sum + (this.gateways[gateway]?.waiting ?? 0), 0);
  }

  /** Asks a gateway so often at once. */
  ask(gateway: number, claims: readonly Claimed[], times: number): void {
    const asked = this.gateways[gateway];
    if (asked === undefined || asked.isGone) return;
    const { process, participant } = asked;
    // Without a connection it would count by itself, up to a whole limit.
    if (process.cutUntil >= this.world.now) return;
    const askedAt = this.world.now;
    if (!participant.hasCompany() && askedAt < asked.startedAt + HEARING_MS) return;
    const key = claims[0]?.[0] ?? "";
    for (let time = 0; time < times; time += 1) {
      this.world.plan(askedAt, "request", process, () => {
        const settle = (outcome: Outcome): void => {
          if (process.isDead) return;
          asked.waiting -= 1;
          this.settled.push({ gateway, key, askedAt, settledAt: this.world.now, outcome });
        };
        asked.waiting += 1;
        const outcome = participant.claim(claims);
        if (outcome instanceof Promise) void outcome.then(settle);
        else settle(outcome);
      });
    }
  }

  /** It does nothing for so long. */
  standStill(gateway: number, ms: number): void {
    const stopped = this.gateways[gateway];
    if (stopped === undefined) return;
    const { process, hindrances } = stopped;
    const from = Math.max(process.stillUntil, this.world.now);
    process.stillUntil = Math.max(process.stillUntil, this.world.now + ms);
    if (process.stillUntil > from) hindrances.push({ from, until: process.stillUntil });
  }

  serverStandsStill(ms: number): void {
    this.#server.stillUntil = Math.max(this.#server.stillUntil, this.world.now + ms);
  }

  /** For so long all that it sends and all that is sent to it is lost; then it has a connection again. */
  cutOff(gateway: number, ms: number): void {
    const cut = this.gateways[gateway];
    if (cut === undefined || cut.isGone || cut.process.cutUntil > this.world.now) return;
    cut.process.cutUntil = this.world.now + ms;
    cut.hindrances.push({ from: this.world.now, until: cut.process.cutUntil });
    this.world.plan(cut.process.cutUntil, "message", cut.process, () => cut.participant.connect());
  }

  /** Each turn of its event loop takes so long from now on. */
  setTurn(gateway: number, turnMs: number): void {
    const process = this.gateways[gateway]?.process;
    if (process !== undefined) process.turnMs = turnMs;
  }

  kill(gateway: number): void {
    const killed = this.gateways[gateway];
    if (killed === undefined) return;
    killed.isGone = true;
    killed.process.isDead = true;
  }

  leave(gateway: number): void {
    const left = this.gateways[gateway];
    if (left === undefined || left.isGone) return;
    left.isGone = true;
    this.world.plan(this.world.now, "request", left.process, () => left.participant.leave());
  }

  setDelays(gateway: number, up: number, down: number): void {
    const process = this.gateways[gateway]?.process;
    if (process !== undefined) process.delays = { up, down };
  }

  /** How long a request waited while its gateway ran and had a connection, in milliseconds. */
  waitOf({ gateway, askedAt, settledAt }: Settled): number {
    let waited = settledAt - askedAt;
    for (const { from, until } of this.gateways[gateway]?.hindrances ?? []) {
      waited -= Math.max(0, Math.min(until, settledAt) - Math.max(from, askedAt));
    }
    return waited;
  }

  /** How many of a key's requests were let through. */
  accepted(key: string): number {
    return this.settled.filter((each) => each.key === key && each.outcome[0] < 0).length;
  }

  #send(from: SimulatedProcess, to: string | null, message: GatewayMessage): void {
    const { world } = this;
    if (from.cutUntil > world.now) return;
    from.arrives.up = Math.max(from.arrives.up, world.now + from.delays.up);
    world.plan(from.arrives.up, "message", this.#server, () => {
      for (const { address, process, participant } of this.gateways) {
        if (to !== null && to !== address) continue;
        if (process.cutUntil > world.now) continue;
        process.arrives.down = Math.max(process.arrives.down, world.now + process.delays.down);
        world.plan(process.arrives.down, "message", process, () => participant.receive(message));
      }
    });
  }
}
