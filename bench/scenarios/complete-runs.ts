import { cpuTimeMs } from "../cpu-time.ts";
import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 64;

export const completeRuns: Scenario = {
  id: "c",
  title: "Completing runs",
  method:
    `A fixed number of runs of three mapping steps, started over ${CONNECTIONS} connections as ` +
    "fast as they are accepted. The rate is their number by the time from the first run's " +
    "createdAt to the last one's completedAt, as stored. CPU is the processor time of the one " +
    "Node process.",
  async measure({ system, load, runs, sizes }) {
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= sizes.rounds; round += 1) {
      const workflowId = await createActiveWorkflow(system, `Complete ${round}`);
      const cpuBefore = cpuTimeMs(system.pid);
      const accepted = await load({
        model: "closed",
        request: runRequest(system, workflowId, "async"),
        connections: CONNECTIONS,
        stop: { afterRequests: round === 0 ? sizes.runsPerRound / 4 : sizes.runsPerRound },
      });
      const stored = await runs.summarize(workflowId);
      const cpuUs = ((cpuTimeMs(system.pid) - cpuBefore) * 1000) / stored.runs;
      if (round === 0) continue;
      rounds.push({
        runs: stored.runs,
        "completed /s": stored.perSecond,
        "accepted /s": accepted.perSecond,
        "createdAt → completedAt p50 ms": stored.p50Ms,
        "createdAt → completedAt p99 ms": stored.p99Ms,
        "CPU µs a run": cpuUs,
      });
    }
    return {
      figures: [
        {
          name: "completed runs",
          value: medianOf(rounds, (round) => round["completed /s"] ?? Number.NaN),
          unit: "/s",
          target: { atLeast: 1_000 },
        },
      ],
      rounds,
    };
  },
};
