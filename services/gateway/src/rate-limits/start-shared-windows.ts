import { createNatsSignals } from "@workflow/events";
import { newUuid } from "@workflow/db";
import type { Scope } from "@workflow/service";
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
/**
 * Of what gateways tell each other; goes up when a gateway of the release before could not follow. Those of two
 * versions beside each other count apart (ADR 66).
 */
const VERSION = "v2";
/** How long a gateway that starts waits for NATS; without it, it serves all the same. */
const CONNECT_MS = 1_000;
/**
 * How long it then waits for somebody to be heard: longer than a gateway usually stands still, so that what this one
 * has let through before is heard of. The first gateway of an installation pays for it, once.
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
  else logger.warn("NATS is not there: rate limits are counted by this gateway alone meanwhile");
  return member.windows;
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

async function hearOthers(members: Members): Promise<void> {
  const deadline = performance.now() + HEARING_MS;
  while (members.isAlone && performance.now() < deadline) await pause(HEARING_STEP_MS);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
