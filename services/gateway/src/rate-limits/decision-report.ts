import type { Logger } from "pino";
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Members } from "./members.ts";

/** Hears of each decision about a limit whether it was made with what other gateways know. */
export type DecisionReport = (isShared: boolean) => void;

/** So long after the last decision alone it is said that limits are shared again, and may be said anew. */
const SPELL_MS = 5_000;

/** Counts the decisions that a gateway makes alone, and says when a spell of them begins and when it is over. */
export function createDecisionReport(
  logger: Logger,
  registry: Registry | undefined,
  members: Members,
): DecisionReport {
  const alone = createCounter(registry);
  watchMembers(registry, members);
  let lastAloneAt: number | null = null;
  return (isShared) => {
    if (isShared) {
      if (lastAloneAt === null || performance.now() - lastAloneAt < SPELL_MS) return;
      lastAloneAt = null;
      logger.info("rate limits are shared between gateways again");
      return;
    }
    alone?.inc();
    if (lastAloneAt === null) {
      logger.warn("other gateways cannot be asked: this one counts for rate limits by itself");
    }
    lastAloneAt = performance.now();
  };
}

function createCounter(registry: Registry | undefined): Counter | undefined {
  if (registry === undefined) return undefined;
  return new Counter({
    name: "gateway_rate_limit_alone_total",
    help: "Requests whose rate was judged without the other gateways.",
    registers: [registry],
  });
}

function watchMembers(registry: Registry | undefined, members: Members): void {
  if (registry === undefined) return;
  const gauge: Gauge = new Gauge({
    name: "gateway_rate_limit_members",
    help: "Gateways that share rate limits, this one included, as it knows them.",
    registers: [registry],
    collect: () => gauge.set(members.size),
  });
}
