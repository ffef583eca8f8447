import { createActiveWorkflow, httpCall, runRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { startReceiver } from "../start-receiver.ts";

const RATE_PER_SECOND = 10;
/** The time of each of the greedy company's calls. */
const CALL_MS = 1_000;
/** The connections over which its runs start. */
const CONNECTIONS = 64;

export const greedyCompany: Scenario = {
  id: "t",
  title: "A company beside one with a backlog",
  method:
    `One company has started 100,000 runs of a call of ${CALL_MS} ms (2,000 with --quick). Another one ` +
    `starts ${RATE_PER_SECOND} runs of three mapping steps a second, at fixed times. From createdAt to ` +
    "startedAt and to completedAt as stored.",
  async measure({ system, load, runs, sizes, scope }) {
    const url = await startReceiver(scope, CALL_MS);
    const greedyId = await createActiveWorkflow(system, "Greedy", [httpCall("slow", url)]);
    const modest = { ...system, apiKey: await system.addCompany("modest") };
    const modestId = await createActiveWorkflow(modest, "Modest");
    const accepted = await load({
      model: "closed",
      request: runRequest(system, greedyId, "async"),
      connections: CONNECTIONS,
      stop: { afterRequests: sizes.greedyRuns },
    });
    const waitingBefore = await runs.pending(greedyId);
    await load({
      model: "open",
      request: runRequest(modest, modestId, "async"),
      ratePerSecond: RATE_PER_SECOND,
      durationMs: sizes.runLatencyMs,
    });
    const stored = await runs.summarize(modestId);
    const waitingAfter = await runs.pending(greedyId);
    return {
      figures: [
        {
          name: "createdAt → startedAt, p50",
          value: stored.startP50Ms,
          unit: "ms",
          target: { atMost: 100 },
        },
        {
          name: "createdAt → startedAt, p99",
          value: stored.startP99Ms,
          unit: "ms",
          target: { atMost: 1_000 },
        },
        { name: "createdAt → completedAt, p50", value: stored.p50Ms, unit: "ms" },
        { name: "createdAt → completedAt, p99", value: stored.p99Ms, unit: "ms" },
      ],
      rounds: [
        {
          "greedy accepted /s": accepted.perSecond,
          "greedy pending before": waitingBefore,
          "greedy pending after": waitingAfter,
        },
      ],
    };
  },
};
