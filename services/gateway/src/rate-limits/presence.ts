import type { GatewayMessage } from "./messages.ts";
import type { Members } from "./members.ts";

export interface PresenceOptions {
  members: Members;
  now: () => number;
  /** Null is to all. */
  send: (to: string | null, message: GatewayMessage) => void;
  /** Hears that somebody has joined or left. */
  onChange: () => void;
}

/** @see SILENCE_MS, which is several of them */
const BEAT_MS = 1_000;

/** Tells the other gateways that this one lives, and notices which of them do. */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #timer: NodeJS.Timeout;
  #beatAt: number;
  #hasEnded = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#beatAt = options.now();
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#timer.unref();
  }

  /** To be called when there is a connection, again or for the first time. */
  announce(): void {
    if (this.#hasEnded) return;
    const { members, now, send } = this.#options;
    members.forgive(now());
    send(null, { kind: "here", from: members.self, isNew: true });
    this.#options.onChange();
  }

  /**
   * Notes a message of another gateway: whoever sends anything lives. False when the message is of no account,
   * for its sender has said goodbye or this gateway has.
   */
  hear(message: GatewayMessage): boolean {
    const { members, now, send, onChange } = this.#options;
    const { from } = message;
    if (this.#hasEnded || members.hasLeft(from)) return false;
    if (message.kind === "bye") {
      if (members.leave(from, now())) onChange();
      return true;
    }
    const isNewcomer = members.hear(from, now());
    if (message.kind === "here" && message.isNew) {
      send(from, { kind: "here", from: members.self, isNew: false });
    }
    if (isNewcomer) onChange();
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
    const { members, now, send, onChange } = this.#options;
    send(null, { kind: "here", from: members.self, isNew: false });
    const isLate = now() - this.#beatAt > 2 * BEAT_MS;
    this.#beatAt = now();
    // Who has stood still itself has not listened either.
    if (isLate) return;
    const gone = members.silent(now()).filter((address) => members.lose(address));
    if (gone.length > 0) onChange();
  }
}
