import type { GatewayMessage } from "./messages.ts";
import type { Members } from "./members.ts";

export interface PresenceOptions {
  members: Members;
  now: () => number;
  /** Null is to all. */
  send: (to: string | null, message: GatewayMessage) => void;
  /** Hears who has joined, or may have missed messages. */
  onJoin: (addresses: readonly string[]) => void;
  /** Hears who has left. */
  onLeave: (addresses: readonly string[]) => void;
}

/** @see SILENCE_MS, which is several of them */
const BEAT_MS = 1_000;
/** A gateway that does not hear so many beats of its own has no NATS, whatever its connection says. */
const UNHEARD_MAX = 3;

/** Tells the other gateways that this one lives, and notices which of them do. */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #timer: NodeJS.Timeout;
  #beatAt: number;
  #unheard = 0;
  #hasEnded = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#beatAt = options.now();
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#timer.unref();
  }

  /** True while NATS carries nothing, not even to the sender itself. */
  get isDeaf(): boolean {
    return this.#unheard >= UNHEARD_MAX;
  }

  /** To be called when there is a connection, again or for the first time. */
  announce(): void {
    if (this.#hasEnded) return;
    const { members, now, send, onJoin } = this.#options;
    this.#unheard = 0;
    members.forgive(now());
    send(null, { kind: "here", from: members.self, isNew: true });
    onJoin(members.others());
  }

  /**
   * Notes a message: whoever sends anything lives. False when the message is of no account: it is this gateway's own,
   * or its sender has said goodbye, or this gateway has.
   */
  hear(message: GatewayMessage): boolean {
    const { members, now, send, onJoin, onLeave } = this.#options;
    const { from } = message;
    if (from === members.self) this.#unheard = 0;
    if (from === members.self || this.#hasEnded || members.hasLeft(from)) return false;
    if (message.kind === "bye") {
      if (members.leave(from, now())) onLeave([from]);
      return true;
    }
    const isNewcomer = members.hear(from, now());
    const isNewToAll = message.kind === "here" && message.isNew;
    if (isNewToAll) send(from, { kind: "here", from: members.self, isNew: false });
    if (isNewToAll && !isNewcomer) members.beginEra();
    if (isNewcomer || isNewToAll) onJoin([from]);
    return true;
  }

  /** Says goodbye, so that nobody waits for an answer. */
  end(): void {
    this.#hasEnded = true;
    clearInterval(this.#timer);
    const { members, send } = this.#options;
    send(null, { kind: "bye", from: members.self });
  }

  #beat(): void {
    const { members, now, send, onLeave } = this.#options;
    send(null, { kind: "here", from: members.self, isNew: false });
    this.#unheard += 1;
    const isLate = now() - this.#beatAt > 2 * BEAT_MS;
    this.#beatAt = now();
    // Who has stood still itself has not listened either, nor does who has no NATS.
    if (isLate || this.isDeaf) return;
    const gone = members.silent(now()).filter((address) => members.lose(address));
    if (gone.length > 0) onLeave(gone);
  }
}
