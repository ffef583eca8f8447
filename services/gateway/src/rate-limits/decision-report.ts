import type { Logger } from "pino";
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Members } from "./members.ts";

/**
 * With what a decision was made: with what the other gateways know; with too little, as those who know do not answer,
 * and so it was a refusal; or without NATS, and so with the whole limit.
 */
export type DecidedWith = "others" | "unknown" | "nobody";

/** Hears of each decision about a limit. */
export type DecisionReport = (decidedWith: DecidedWith) => void;

/** So long after the last decision alone it is said that limits are shared again, and may be said anew. */
const SPELL_MS = 5_000;

const WARNINGS = {
  unknown: "other gateways do not answer: this one refuses requests whose rate is not known",
  nobody: "other gateways cannot be asked: this one counts for rate limits by itself",
} as const;

/** Counts the decisions that a gateway makes alone, and says when a spell of them begins and when it is over. */
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
