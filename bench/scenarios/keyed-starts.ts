import { createActiveWorkflow, keyedRunRequest, runRequest } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 64;

export const keyedStarts: Scenario = {
  id: "r",
  title: "Starts with an idempotency key",
  method:
    `POST /workflows/{id}/run (async, three mapping steps) over ${CONNECTIONS} connections with another ` +
    "idempotency key each time, in turn with the same without a key.",
  async measure({ system, load, runs, sizes }) {
    const workflowId = await createActiveWorkflow(system, "Keyed");
    const requests = {
      keyed: keyedRunRequest(system, workflowId),
      plain: runRequest(system, workflowId, "async"),
    };
    const start = async (kind: "keyed" | "plain", afterMs: number) => {
      const request = requests[kind];
      const job = {
        model: "closed",
        request,
        connections: CONNECTIONS,
        stop: { afterMs },
      } as const;
      const accepted = await load(job);
      await runs.drained();
      return accepted;
    };
    await start("keyed", sizes.warmUpMs);
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const keyed = await start("keyed", sizes.pairRoundMs);
      const plain = await start("plain", sizes.pairRoundMs);
      rounds.push({
        "keyed /s": keyed.perSecond,
        "plain /s": plain.perSecond,
        "keyed ÷ plain": keyed.perSecond / plain.perSecond,
        "keyed p50 ms": keyed.p50Ms,
        "plain p50 ms": plain.p50Ms,
      });
    }
    return {
      figures: [
        {
          name: "accepted runs with a key",
          value: medianOf(rounds, (row) => row["keyed /s"] ?? Number.NaN),
          unit: "/s",
        },
        {
          name: "accepted runs with a key, beside those without",
          value: medianOf(rounds, (row) => row["keyed ÷ plain"] ?? Number.NaN),
          unit: "× floor",
        },
      ],
      rounds,
    };
  },
};
