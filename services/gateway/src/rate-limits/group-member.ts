import type { Clock } from "./clock.ts";
import type { DecisionReport } from "./decision-report.ts";
import type { Members } from "./members.ts";
import type { GatewayMessage } from "./messages.ts";
import { PeerExchange } from "./peer-exchange.ts";
import { Presence } from "./presence.ts";
import { SharedWindows } from "./shared-windows.ts";

export interface GroupMemberOptions {
  windowMs: number;
  clock: Clock;
  members: Members;
  onDecision: DecisionReport;
  /**
   * Sends to one gateway; `null` sends to all, the sender included. False when the message could not be sent.
   */
  send: (to: string | null, message: GatewayMessage) => boolean;
  isConnected: () => boolean;
  /** Called when a gateway was silent for so long that it is taken for dead. */
  onSilence: () => void;
}

/** One of the gateways that share windows, whatever carries their messages. */
export interface GroupMember {
  windows: SharedWindows;
  /** To be called at each connection, the first one included. */
  announce(): void;
  receive(message: GatewayMessage): void;
  /** Says goodbye. */
  end(): void;
}

/** @see GroupMember */
export function createGroupMember(options: GroupMemberOptions): GroupMember {
  const { members, clock, send } = options;
  const windows = new SharedWindows(options);
  const exchange = new PeerExchange({
    self: members.self,
    clock,
    send,
    decide: (question) => windows.answer(question),
    learn: (known) => windows.learn(known),
    note: (source, keys) => windows.note(source, keys),
    view: () => presence.agreed,
  });
  const presence = new Presence({
    members,
    clock,
    send(to, message) {
      // A heartbeat says that everything told before it is on its way.
      exchange.flush();
      send(to, message);
    },
    tellAll: () => windows.tellAll(),
    onLeave: (address) => exchange.giveUp(address),
    onSilence: options.onSilence,
  });
  windows.join({
    exchange,
    presence,
    isConnected: () => options.isConnected() && presence.isHeard,
    hasLeft: () => presence.hasEnded,
  });
  return {
    windows,
    announce: () => presence.announce(),
    receive(message) {
      if (presence.hear(message) && message.kind === "batch") exchange.receive(message);
    },
    end() {
      exchange.end();
      presence.end();
    },
  };
}
