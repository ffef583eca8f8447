import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";

const RATE_PER_SECOND = 50;

export const runLatency: Scenario = {
  id: "d",
  title: "Latency of a run",
  method:
    `${RATE_PER_SECOND} async runs of three mapping steps a second, sent at fixed times whether or ` +
    "not earlier ones were answered. From createdAt to completedAt as stored, and from the " +
    "scheduled time of the request to its 202 as the caller sees it.",
  async measure({ system, load, runs, sizes }) {
    const start = async (durationMs: number) => {
      const workflowId = await createActiveWorkflow(system, "Latency");
      const request = runRequest(system, workflowId, "async");
      const job = { model: "open", request, ratePerSecond: RATE_PER_SECOND, durationMs } as const;
      const answers = await load(job);
      return { answers, stored: await runs.summarize(workflowId) };
    };
    await start(sizes.warmUpMs);
    const { answers, stored } = await start(sizes.runLatencyMs);
    return {
      figures: [
        {
          name: "createdAt → completedAt, p50",
          value: stored.p50Ms,
          unit: "ms",
          target: { atMost: 12 },
        },
        {
          name: "createdAt → completedAt, p99",
          value: stored.p99Ms,
          unit: "ms",
          target: { atMost: 60 },
        },
        { name: "request → 202, p50", value: answers.p50Ms, unit: "ms" },
        { name: "request → 202, p99", value: answers.p99Ms, unit: "ms" },
      ],
      rounds: [],
    };
  },
};
