import { createNatsSignals } from "@workflow/events";
import { newUuid } from "@workflow/db";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import { Authority } from "./authority.ts";
import { createDecisionReport } from "./decision-report.ts";
import type { Registry } from "prom-client";
import { Members } from "./members.ts";
import { readGatewayMessage } from "./messages.ts";
import type { GatewayMessage } from "./messages.ts";
import { OwnPace } from "./own-pace.ts";
import { PeerExchange } from "./peer-exchange.ts";
import { Presence } from "./presence.ts";
import { SharedWindows } from "./shared-windows.ts";
import { Trust } from "./trust.ts";

export interface SharingOptions {
  /** Where gateways meet; without it this one counts for itself. */
  natsUrl: string | undefined;
  /** Tells gateways of this installation from others on the same server: one word of a subject. */
  installation: string;
  /** How long what was let through counts, in milliseconds. */
  windowMs: number;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

/** First word of the subjects on which gateways speak with each other. */
const SUBJECT = "gateway-limits";
/** How long a gateway that starts waits for NATS; without it, it serves all the same. */
const CONNECT_MS = 1_000;
/**
 * How long it then waits for somebody to be heard: two beats, as a gateway whose process stands still for a
 * moment is there all the same. The first gateway of an installation pays for it, once.
 */
const HEARING_MS = 2_100;
const HEARING_STEP_MS = 25;
/** How long it waits, once somebody was heard, for what that one knows. */
const GREETING_MS = 100;

/** Windows that all gateways of an installation share, ready for the first request. */
export async function startSharedWindows(
  options: SharingOptions,
  scope: Scope,
): Promise<SharedWindows> {
  const { natsUrl, windowMs, logger } = options;
  const now = (): number => performance.now();
  const members = new Members(newUuid());
  const onDecision = createDecisionReport(logger, options.metricsRegistry, members);
  const windows = new SharedWindows({ windowMs, now, members, onDecision });
  if (natsUrl === undefined) return windows;

  const send = (to: string | null, message: GatewayMessage): boolean =>
    signals.send(to, JSON.stringify(message));
  const trust = new Trust({
    now,
    probe: (address, patienceMs) => exchange.probe(address, { patienceMs }),
    tell: (address) => exchange.greet(address),
  });
  const exchange = new PeerExchange({
    self: members.self,
    now,
    send,
    decide: (question) => windows.answer(question),
    learn: (known) => windows.learn(known),
    note: (source, keys) => windows.note(source, keys),
    isSuspected: (address) => trust.isSuspected(address),
    onSilence: (address) => trust.suspect(address),
  });
  const authority = new Authority({
    members,
    trust,
    probe: (address) => exchange.probe(address),
  });
  const pace = new OwnPace(now, () => authority.catchUp());
  const presence = new Presence({
    members,
    now,
    send,
    onJoin(addresses) {
      for (const address of addresses) trust.meet(address);
      // Who has answered the probe has read what was told before it.
      void windows.tellAll().then(() => {
        for (const address of addresses) void trust.probe(address);
      });
    },
    onLeave(addresses) {
      for (const address of addresses) trust.forget(address);
      void windows.tellAll();
    },
  });
  const signals = createNatsSignals({
    servers: natsUrl,
    name: "gateway",
    logger,
    group: `${SUBJECT}.${options.installation}`,
    address: members.self,
    onConnect: () => presence.announce(),
    onMessage(text) {
      const message = readMessage(text, logger);
      if (message === null || !presence.hear(message)) return;
      if (message.kind === "batch") {
        trust.hear(message.from, message.isDoubted);
        exchange.receive(message);
      }
      if (message.kind === "bye") exchange.giveUp(message.from);
    },
  });
  scope.defer(() => signals.close());
  scope.defer(() => {
    pace.end();
    exchange.end();
    presence.end();
    trust.end();
  });
  windows.join({
    exchange,
    authority,
    isConnected: () => signals.isConnected() && !presence.isDeaf,
    checkPace: (at) => pace.check(at),
  });
  if (await signals.connected(AbortSignal.timeout(CONNECT_MS))) await hearOthers(members, now);
  else logger.warn("NATS is not there: rate limits are counted by this gateway alone meanwhile");
  return windows;
}

/** Null for what a gateway of another version may send. */
function readMessage(text: string, logger: Logger): GatewayMessage | null {
  try {
    return readGatewayMessage(text);
  } catch (error) {
    logger.warn({ err: error }, "a message of another gateway could not be read");
    return null;
  }
}

async function hearOthers(members: Members, now: () => number): Promise<void> {
  const deadline = now() + HEARING_MS;
  while (members.isAlone && now() < deadline) await pause(HEARING_STEP_MS);
  if (!members.isAlone) await pause(GREETING_MS);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
