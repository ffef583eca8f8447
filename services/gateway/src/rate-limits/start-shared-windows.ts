import type { Scope } from "@workflow/async";
import { createNatsSignals } from "@workflow/events";
import { newUuid } from "@workflow/db";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { processClock } from "./clock.ts";
import { createDecisionReport } from "./decision-report.ts";
import { createGroupMember } from "./group-member.ts";
import { Members } from "./members.ts";
import { readGatewayMessage } from "./messages.ts";
import type { GatewayMessage } from "./messages.ts";
import { SharedWindows } from "./shared-windows.ts";

export interface SharingOptions {
  /** The NATS server on which gateways meet. Without it, this gateway counts for itself. */
  natsUrl: string | undefined;
  /** One word of a subject that separates installations on one server. */
  installation: string;
  /** The length of a window, in milliseconds. */
  windowMs: number;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

/** The first word of the subjects that gateways use among each other. */
const SUBJECT = "gateway-limits";
/**
 * The version of the messages. It grows when a gateway of the release before could not follow. Gateways of two
 * versions count separately (ADR 66).
 */
const VERSION = "v2";
/** How long a starting gateway waits for NATS. It serves without NATS after that. */
const CONNECT_MS = 1_000;
/**
 * How long a starting gateway then waits to hear another one. That is longer than a gateway usually stands still,
 * so this one learns what was let through before. The first gateway of an installation waits in vain, once.
 */
const HEARING_MS = 2_100;
const HEARING_STEP_MS = 25;

/** Windows that all gateways of an installation share, ready for the first request. */
export async function startSharedWindows(
  options: SharingOptions,
  scope: Scope,
): Promise<SharedWindows> {
  const { natsUrl, windowMs, logger } = options;
  const clock = processClock;
  const members = new Members(newUuid());
  const onDecision = createDecisionReport(logger, options.metricsRegistry, members);
  if (natsUrl === undefined) return new SharedWindows({ windowMs, clock, members, onDecision });

  const member = createGroupMember({
    windowMs,
    clock,
    members,
    onDecision,
    send: (to, message) => signals.send(to, JSON.stringify(message)),
    isConnected: () => signals.isConnected(),
    onSilence: () => logger.warn("another gateway was silent for too long: its rate limits move"),
  });
  const signals = createNatsSignals({
    servers: natsUrl,
    name: "gateway",
    logger,
    group: `${SUBJECT}.${VERSION}.${options.installation}`,
    address: members.self,
    onConnect: () => member.announce(),
    onMessage(text) {
      const message = readMessage(text, logger);
      if (message !== null) member.receive(message);
    },
  });
  scope.defer(() => signals.close());
  scope.defer(() => member.end());
  if (await signals.connected(AbortSignal.timeout(CONNECT_MS))) await hearOthers(members);
  else logger.warn("NATS is unavailable: this gateway counts rate limits alone");
  return member.windows;
}

/** Null for a message of another version. */
function readMessage(text: string, logger: Logger): GatewayMessage | null {
  try {
    return readGatewayMessage(text);
  } catch (error) {
    logger.warn({ err: error }, "a message of another gateway could not be read");
    return null;
  }
}

async function hearOthers(members: Members): Promise<void> {
  const deadline = performance.now() + HEARING_MS;
  while (members.isAlone && performance.now() < deadline) await pause(HEARING_STEP_MS);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
