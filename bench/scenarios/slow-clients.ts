import { startHelper } from "../child-process.ts";
import { createActiveWorkflow, getWorkflowRequest } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { slowClientsCount } from "../slow-clients-protocol.ts";
import { medianOf } from "../statistics.ts";

const RATE_PER_SECOND = 50;
/** Slow clients, half of them with endless heads and half with endless bodies. */
const SLOW_CLIENTS = 1_000;

export const slowClients: Scenario = {
  id: "aa",
  title: "Reads beside slow clients",
  method:
    `${RATE_PER_SECOND} reads of a workflow a second sent at fixed times, alone and, in turn, beside ` +
    `${SLOW_CLIENTS} connections of another company that send a byte a second: half of them a head, half a body.`,
  async measure({ system, load, sizes, scope }) {
    const request = getWorkflowRequest(system, await createActiveWorkflow(system, "Canary"));
    const apiKey = await system.addCompany("slow");
    const slow = startHelper(scope, "slow-clients.ts");
    const ask = (order: object) => slow.ask(order, slowClientsCount);
    const opening = {
      kind: "open",
      port: Number(new URL(system.origin).port),
      heads: SLOW_CLIENTS / 2,
      bodies: SLOW_CLIENTS / 2,
      apiKey,
    };
    const read = (durationMs: number) =>
      load({ model: "open", request, ratePerSecond: RATE_PER_SECOND, durationMs });

    await read(sizes.warmUpMs);
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const alone = await read(sizes.roundMs);
      await ask(opening);
      const beside = await read(sizes.roundMs);
      const { open, cut } = await ask({ kind: "count" });
      await ask({ kind: "close" });
      rounds.push({
        "alone p50 ms": alone.p50Ms,
        "beside p50 ms": beside.p50Ms,
        "alone p99 ms": alone.p99Ms,
        "beside p99 ms": beside.p99Ms,
        "slow connections": open,
        "cut off": cut,
      });
    }
    const median = (column: string): number => medianOf(rounds, (row) => row[column] ?? Number.NaN);
    return {
      figures: [
        { name: "reads alone, p50", value: median("alone p50 ms"), unit: "ms" },
        { name: "reads beside slow clients, p50", value: median("beside p50 ms"), unit: "ms" },
        { name: "reads alone, p99", value: median("alone p99 ms"), unit: "ms" },
        { name: "reads beside slow clients, p99", value: median("beside p99 ms"), unit: "ms" },
      ],
      rounds,
    };
  },
};
