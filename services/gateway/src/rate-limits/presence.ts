import type { Clock } from "./clock.ts";
import type { Members } from "./members.ts";
import type { GatewayMessage } from "./messages.ts";
import { OwnPace } from "./own-pace.ts";

export interface PresenceOptions {
  members: Members;
  clock: Clock;
  /** Sends to one gateway; `null` sends to all, this one included. */
  send: (to: string | null, message: GatewayMessage) => void;
  /** Tells the responsible gateways what this one knows. Settles when all is told. */
  tellAll: () => Promise<void>;
  /** Called when a gateway is gone. */
  onLeave: (address: string) => void;
  /** Called when a gateway is gone without a goodbye. */
  onSilence: () => void;
}

const BEAT_MS = 250;
/** For so long after a heartbeat was sent, its receipt lets a home decide by itself. */
const LEASE_MS = 1_000;
/**
 * A gateway that was not heard for so long is gone. Its decisions were sent within a lease, and have the rest of
 * this time to reach the server.
 */
const SILENCE_MS = 2_500;
/**
 * A gateway that has sent so many heartbeats without hearing one of its own has no NATS, whatever its connection
 * says. That takes at least 3 s.
 */
const UNHEARD_MAX = 13;

/** The last report of a gateway about itself. */
interface Receipt {
  /** When this gateway sent the last heartbeat that the other one has read. */
  readonly at: number;
  /** The membership in which the other gateway has told all that it knows. */
  readonly view: number;
}

/** How far a deputy has agreed. */
export type Agreement =
  /** The home may decide by itself. */
  | "lease"
  /** The deputy agrees on who is responsible, and has to be asked about each claim. */
  | "ask"
  | "none";

/**
 * Tells the other gateways that this one lives, with a receipt for each of them, and notices which of them live.
 * Heartbeats come back to their sender: everything that the server had before one was read before it.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #receipts = new Map<string, Receipt>();
  /** The send time of the last heartbeat that was read of each gateway, by its clock. */
  readonly #read = new Map<string, number>();
  readonly #pace = new OwnPace();
  #agreed = 0;
  /** Since when the membership is the present one. */
  #since = 0;
  #doAllAgree = false;
  #unheard = 0;
  #hasEnded = false;
  #cancelHeartbeat: () => void;
  #change = Promise.withResolvers<void>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#cancelHeartbeat = this.#beatLater();
  }

  /** False while NATS carries nothing, not even to the sender itself. */
  get isHeard(): boolean {
    return this.#unheard < UNHEARD_MAX;
  }

  /** True after the goodbye. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The membership in which this gateway has told all that it knows; 0 before. */
  get agreed(): number {
    return this.#agreed;
  }

  /** Resolves when something may have changed, or at the next heartbeat. */
  get change(): Promise<void> {
    return this.#change.promise;
  }

  /** What a deputy has agreed to. `none` until all gateways agree on who is responsible. */
  agreementOf(deputy: string): Agreement {
    const receipt = this.#receipts.get(deputy);
    if (receipt === undefined || !this.#doAllAgree) return "none";
    return this.#options.clock.now() - receipt.at <= LEASE_MS ? "lease" : "ask";
  }

  /** To be called at each connection, the first one included. */
  announce(): void {
    if (this.#hasEnded) return;
    const { members, clock } = this.#options;
    this.#unheard = 0;
    members.forgive(clock.now());
    this.#sendHeartbeat(true);
    this.#agreeAnew();
  }

  /**
   * Notes a message. False when it does not count: it is this gateway's own, or its sender or this gateway has said
   * goodbye.
   */
  hear(message: GatewayMessage): boolean {
    const { members, clock, onLeave } = this.#options;
    const { from } = message;
    if (this.#hasEnded) return false;
    if (from === members.self) {
      if (message.kind === "here") this.#hearSelf(message.at);
      return false;
    }
    if (members.hasLeft(from)) return false;
    if (message.kind === "bye") {
      if (members.leave(from, clock.now())) this.#lose(from);
      onLeave(from);
      return true;
    }
    const isNewcomer = members.hear(from, clock.now());
    const hasMissed = message.kind === "here" && message.isNew && !isNewcomer;
    if (hasMissed) members.beginEra();
    if (message.kind === "here") {
      this.#read.set(from, message.at);
      const at = message.read.find(([address]) => address === members.self)?.[1] ?? -1;
      this.#receipts.set(from, { at, view: message.view });
      this.#compare();
    }
    const isOtherPace = message.kind === "here" && members.markSlow(from, message.isSlow);
    if (isNewcomer || hasMissed || isOtherPace) this.#agreeAnew();
    return true;
  }

  /** Says goodbye, so that nobody waits for an answer. */
  end(): void {
    this.#hasEnded = true;
    this.#cancelHeartbeat();
    const { members, send } = this.#options;
    send(null, { kind: "bye", from: members.self });
    this.#notify();
  }

  /**
   * Removes silent gateways. Silence is measured up to a heartbeat of this gateway that has come back.
   */
  #hearSelf(at: number): void {
    this.#unheard = 0;
    const { members, clock, onLeave, onSilence } = this.#options;
    if (this.#pace.note(clock.now() - at)) {
      members.markSlow(members.self, this.#pace.isSlow);
      this.#agreeAnew();
    }
    for (const address of members.silent(at - SILENCE_MS)) {
      members.lose(address);
      this.#lose(address);
      onLeave(address);
      onSilence();
    }
  }

  #lose(address: string): void {
    this.#receipts.delete(address);
    this.#read.delete(address);
    this.#agreeAnew();
  }

  /** Begins a new agreement: other gateways have become responsible and have to be told first. */
  #agreeAnew(): void {
    const { members, clock, tellAll } = this.#options;
    const { epoch } = members;
    this.#agreed = 0;
    this.#since = Math.floor(clock.now());
    this.#compare();
    void tellAll().then(() => {
      if (members.epoch !== epoch || this.#hasEnded) return;
      this.#agreed = members.view;
      this.#sendHeartbeat(false);
    });
  }

  /** Checks whether all gateways report the present membership. */
  #compare(): void {
    const { members } = this.#options;
    const isAgreed = (address: string): boolean => {
      const receipt = this.#receipts.get(address);
      return receipt !== undefined && receipt.view === members.view && receipt.at >= this.#since;
    };
    this.#doAllAgree = members.others().every(isAgreed);
    this.#notify();
  }

  #sendHeartbeat(isNew: boolean): void {
    const { members, clock, send } = this.#options;
    const at = Math.floor(clock.now());
    const read = [...this.#read];
    const { isSlow } = this.#pace;
    send(null, { kind: "here", from: members.self, isNew, isSlow, at, read, view: this.#agreed });
  }

  #beatLater(): () => void {
    return this.#options.clock.after(BEAT_MS, () => {
      this.#cancelHeartbeat = this.#beatLater();
      this.#unheard += 1;
      this.#sendHeartbeat(false);
      this.#notify();
    });
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
