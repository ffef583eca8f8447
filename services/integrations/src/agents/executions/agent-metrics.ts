import { counterIn, gaugeIn, histogramIn } from "@workflow/service";
import { Registry } from "prom-client";
import { AGENT_PROVIDERS } from "../../domain/agent.ts";
import type { AgentProvider } from "../../domain/agent.ts";
import type { AgentAnswer, PreparedQuestion } from "../agent-answer.ts";
import { MODEL_CALL_CODES, ModelCallError } from "../models/model-call-error.ts";

/** The metrics of agents' calls. */
export interface AgentMetrics {
  /** Asks, and measures the outcome. */
  measure(
    provider: AgentProvider,
    prepared: Pick<PreparedQuestion, "ask" | "spent">,
  ): Promise<AgentAnswer>;
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Registers the metrics; services that share a registry share them. */
export function createAgentMetrics(registry: Registry = new Registry()): AgentMetrics {
  const calls = counterIn(registry, {
    name: "agent_calls_total",
    help: "Questions to agents, by provider and outcome: completed, cancelled or the code of the failure.",
    labelNames: ["provider", "outcome"],
  });
  const tokens = counterIn(registry, {
    name: "agent_tokens_total",
    help: "Tokens that providers have counted, by provider and kind.",
    labelNames: ["provider", "kind"],
  });
  const inFlight = gaugeIn(registry, {
    name: "agent_calls_in_flight",
    help: "Questions to agents that wait for their answer, by provider.",
    labelNames: ["provider"],
  });
  const seconds = histogramIn(registry, {
    name: "agent_call_duration_seconds",
    help: "Time that questions to agents took with all attempts, by provider.",
    labelNames: ["provider"],
    buckets: SECONDS,
  });
  // The counters start at 0, so that the first failure is seen as an increase.
  for (const provider of AGENT_PROVIDERS) {
    for (const outcome of ["completed", "cancelled", ...MODEL_CALL_CODES]) {
      calls.inc({ provider, outcome }, 0);
    }
  }
  return {
    async measure(provider, { ask, spent }) {
      const startedAt = performance.now();
      let outcome = "cancelled";
      inFlight.inc({ provider });
      try {
        const answer = await ask();
        outcome = answer.error?.code ?? "completed";
        return answer;
      } catch (error) {
        if (error instanceof ModelCallError) outcome = error.failure.code;
        throw error;
      } finally {
        const { usage } = spent();
        tokens.inc({ provider, kind: "input" }, usage?.inputTokens ?? 0);
        tokens.inc({ provider, kind: "output" }, usage?.outputTokens ?? 0);
        inFlight.dec({ provider });
        calls.inc({ provider, outcome });
        seconds.observe({ provider }, (performance.now() - startedAt) / 1_000);
      }
    },
  };
}
