import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Figure, Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CALLERS = [16, 64] as const;

export const busyCallers: Scenario = {
  id: "q",
  title: "Async starts in a closed loop",
  method:
    `${CALLERS.join(" and ")} connections each start the next async run (three mapping steps) when the ` +
    "last one was accepted: does execution keep step with acceptance? From createdAt to startedAt and " +
    "to completedAt as stored.",
  async measure({ system, load, runs, sizes }) {
    const start = async (connections: number, afterMs: number) => {
      const workflowId = await createActiveWorkflow(system, "Busy callers");
      const request = runRequest(system, workflowId, "async");
      const accepted = await load({ model: "closed", request, connections, stop: { afterMs } });
      return { accepted, stored: await runs.summarize(workflowId) };
    };
    await start(CALLERS[0], sizes.warmUpMs);
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const row: Record<string, number> = {};
      for (const callers of CALLERS) {
        const { accepted, stored } = await start(callers, sizes.roundMs);
        row[`${callers}: accepted /s`] = accepted.perSecond;
        row[`${callers}: completed /s`] = stored.perSecond;
        row[`${callers}: started after p50 ms`] = stored.startP50Ms;
        row[`${callers}: completed after p50 ms`] = stored.p50Ms;
      }
      rounds.push(row);
    }
    const median = (name: string): number => medianOf(rounds, (row) => row[name] ?? Number.NaN);
    return {
      figures: CALLERS.flatMap((callers): Figure[] => [
        {
          name: `createdAt → startedAt, ${callers} callers, p50`,
          value: median(`${callers}: started after p50 ms`),
          unit: "ms",
          target: { atMost: callers === 16 ? 50 : 200 },
        },
        {
          name: `completed runs, ${callers} callers`,
          value: median(`${callers}: completed /s`),
          unit: "/s",
        },
      ]),
      rounds,
    };
  },
};
