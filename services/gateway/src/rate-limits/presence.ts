import type { Clock } from "./clock.ts";
import type { Members } from "./members.ts";
import type { GatewayMessage } from "./messages.ts";
import { OwnPace } from "./own-pace.ts";

export interface PresenceOptions {
  members: Members;
  clock: Clock;
  /** Null is to all, this gateway included. */
  send: (to: string | null, message: GatewayMessage) => void;
  /** Tells those who are responsible now what is known here. Settles when all is told. */
  tellAll: () => Promise<void>;
  /** Hears who is gone. */
  onLeave: (address: string) => void;
  /** Hears that somebody is gone who has not said goodbye. */
  onSilence: () => void;
}

const BEAT_MS = 250;
/** For so long after a beat was sent its receipt lets a home decide by itself. */
const LEASE_MS = 1_000;
/**
 * A gateway of which nothing was read in so long is gone. What it did with its last receipt was sent within a lease, and
 * has the rest of this time to reach the server.
 */
const SILENCE_MS = 2_500;
/**
 * A gateway that has sent so many beats since it heard one of its own has no NATS, whatever its connection says. The
 * last of them is sent 3 s or more after that.
 */
const UNHEARD_MAX = 13;

/** What somebody has said of itself last. */
interface Receipt {
  /** When the last beat that it had read was sent from here. */
  readonly at: number;
  /** The gateways among which it knows its place, and has told all that it knows. */
  readonly view: number;
}

/** What a deputy's word is worth. */
export type Agreement =
  /** The home may decide by itself. */
  | "lease"
  /** It agrees on who is responsible, and has to be asked about each claim. */
  | "ask"
  | "none";

/**
 * Tells the other gateways that this one lives, with a receipt of what it has read of each, and notices which of them
 * live. Beats come back to their sender: what the server had before one of them was read before it comes.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #receipts = new Map<string, Receipt>();
  /** When the last beat that was read of each was sent, by its clock. */
  readonly #read = new Map<string, number>();
  readonly #pace = new OwnPace();
  #agreed = 0;
  /** Since when the gateways are those of now. */
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

  /** Among whom this gateway knows its place and has told all that it knows; 0 while it has not. */
  get agreed(): number {
    return this.#agreed;
  }

  /** When something may have changed, or a beat later. */
  get change(): Promise<void> {
    return this.#change.promise;
  }

  /** What a deputy has agreed to. Nothing, before all have agreed on who is responsible. */
  agreementOf(deputy: string): Agreement {
    const receipt = this.#receipts.get(deputy);
    if (receipt === undefined || !this.#doAllAgree) return "none";
    return this.#options.clock.now() - receipt.at <= LEASE_MS ? "lease" : "ask";
  }

  /** To be called when there is a connection, again or for the first time. */
  announce(): void {
    if (this.#hasEnded) return;
    const { members, clock } = this.#options;
    this.#unheard = 0;
    members.forgive(clock.now());
    this.#sendHeartbeat(true);
    this.#agreeAnew();
  }

  /**
   * Notes a message. False when it is of no account: it is this gateway's own, or its sender has said goodbye, or
   * this gateway has.
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

  /** Somebody was silent, by the time between what was read of it and a beat that has come back. */
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

  /** Others have become responsible: nothing is agreed before they were told. */
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

  /** Looks whether all have read that the gateways are those of now, and say the same. */
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
