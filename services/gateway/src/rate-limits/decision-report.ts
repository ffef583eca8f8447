import type { Logger } from "pino";
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Members } from "./members.ts";

/**
 * What a decision rests on. `others`: the other gateways' knowledge. `unknown`: nobody who knows has answered, so
 * the request was refused. `nobody`: there is no NATS, so this gateway alone applied the whole limit.
 */
export type DecidedWith = "others" | "unknown" | "nobody";

/** Hears of each decision about a limit. */
export type DecisionReport = (decidedWith: DecidedWith) => void;

/** So long after the last decision without NATS, the log says that limits are shared again. */
const SPELL_MS = 5_000;

const WARNINGS = {
  unknown: "other gateways do not answer: this one refuses requests whose rate is not known",
  nobody: "other gateways cannot be asked: this one counts for rate limits by itself",
} as const;

/**
 * Counts the decisions that a gateway makes alone. The log says when such a spell begins and when it ends.
 */
export function createDecisionReport(
  logger: Logger,
  registry: Registry | undefined,
  members: Members,
): DecisionReport {
  const alone = createCounter(registry);
  watchMembers(registry, members);
  let spell: { decidedWith: DecidedWith; lastAt: number } | null = null;
  return (decidedWith) => {
    if (decidedWith === "others") {
      if (spell === null || performance.now() - spell.lastAt < SPELL_MS) return;
      spell = null;
      logger.info("rate limits are shared between gateways again");
      return;
    }
    alone?.inc({ limit: decidedWith === "unknown" ? "none" : "whole" });
    if (spell?.decidedWith !== decidedWith) logger.warn(WARNINGS[decidedWith]);
    spell = { decidedWith, lastAt: performance.now() };
  };
}

function createCounter(registry: Registry | undefined): Counter<"limit"> | undefined {
  if (registry === undefined) return undefined;
  return new Counter({
    name: "gateway_rate_limit_alone_total",
    help: "Requests whose rate was judged without the other gateways, by what is let through then.",
    labelNames: ["limit"],
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
