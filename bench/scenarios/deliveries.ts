import { cpuTimeMs } from "../cpu-time.ts";
import { deleteEndpoint, makeEndpoint } from "../endpoints.ts";
import { startPostFloor } from "../floors/post-job.ts";
import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Figure, Outcome, Scenario, Surroundings } from "../scenario.ts";
import { startDeliveryReceiver } from "../start-delivery-receiver.ts";
import type { DeliveryReceiver } from "../start-delivery-receiver.ts";
import { medianOf } from "../statistics.ts";
import type { System } from "../system.ts";

const RATE_PER_SECOND = 50;
const CONNECTIONS = 64;

export const deliveries: Scenario = {
  id: "y",
  title: "Deliveries of the ends of runs",
  method:
    `${RATE_PER_SECOND} runs of three mapping steps a second, of a company with one endpoint: from the run's completedAt ` +
    "as the body tells it to the first byte at the receiver, in whole milliseconds. Floor: signed POSTs from a process " +
    "that stores nothing, at the same rate. Then what deliveries cost runs: as many runs as are accepted, of a company " +
    "without endpoints and of the same one with one, in turn; by stored times, before the deliveries are waited for.",
  async measure(surroundings) {
    const { scope } = surroundings;
    const apiKey = await surroundings.system.addCompany("deliveries");
    const system = { ...surroundings.system, apiKey };
    const receiver = await startDeliveryReceiver(scope);
    const latencies = await measureLatency({ ...surroundings, system }, receiver);
    const { figures, rounds } = await measureCost({ ...surroundings, system }, receiver);
    return { figures: [...latencies, ...figures], rounds };
  },
};

async function measureLatency(
  { system, load, runs, sizes, scope }: Surroundings,
  receiver: DeliveryReceiver,
): Promise<Figure[]> {
  const endpointId = await makeEndpoint(system, "Latency", receiver.urlOf("latency"));
  const workflowId = await createActiveWorkflow(system, "Delivered");
  const request = runRequest(system, workflowId, "async");
  const start = async (durationMs: number) => {
    await load({ model: "open", request, ratePerSecond: RATE_PER_SECOND, durationMs });
    await runs.drained();
    return receiver.collect("latency", Math.round((RATE_PER_SECOND * durationMs) / 1_000));
  };
  await start(sizes.warmUpMs);
  const arrived = await start(sizes.runLatencyMs);
  await deleteEndpoint(system, endpointId);
  await startPostFloor(scope)({
    url: receiver.urlOf("floor"),
    count: arrived.count,
    connections: 16,
    ratePerSecond: RATE_PER_SECOND,
    bodyBytes: 500,
  });
  const floor = await receiver.collect("floor", arrived.count);
  return [
    {
      name: "completedAt → first byte, p50",
      value: arrived.p50Ms,
      unit: "ms",
      target: { atMost: 20 },
    },
    { name: "completedAt → first byte, p99", value: arrived.p99Ms, unit: "ms" },
    { name: "the floor's p50", value: floor.p50Ms, unit: "ms" },
    { name: "the floor's p99", value: floor.p99Ms, unit: "ms" },
  ];
}

/** The cost of deliveries, which only runs with deliveries pay. */
async function measureCost(
  surroundings: Surroundings,
  receiver: DeliveryReceiver,
): Promise<Outcome> {
  const { system, sizes } = surroundings;
  const rounds: Outcome["rounds"] = [];
  // The first round warms up.
  for (let round = 0; round <= sizes.rounds; round += 1) {
    const count = round === 0 ? sizes.runsPerRound / 4 : sizes.runsPerRound;
    const without = await completeRuns(surroundings, `Without ${round}`, count);
    const endpointId = await makeEndpoint(system, "Cost", receiver.urlOf("cost"));
    const withOne = await completeRuns(surroundings, `With ${round}`, count);
    await receiver.collect("cost", count);
    await deleteEndpoint(system, endpointId);
    if (round === 0) continue;
    rounds.push({
      "without /s": without.perSecond,
      "with /s": withOne.perSecond,
      "with ÷ without": withOne.perSecond / without.perSecond,
      "CPU µs a run without": without.cpuUs,
      "CPU µs a run with": withOne.cpuUs,
    });
  }
  const median = (column: string) => medianOf(rounds, (round) => round[column] ?? Number.NaN);
  return {
    figures: [
      { name: "completed runs, without endpoints", value: median("without /s"), unit: "/s" },
      { name: "completed runs, with one", value: median("with /s"), unit: "/s" },
    ],
    rounds,
  };
}

async function completeRuns(
  { system, load, runs }: Omit<Surroundings, "system"> & { system: System },
  name: string,
  count: number,
): Promise<{ perSecond: number; cpuUs: number }> {
  const workflowId = await createActiveWorkflow(system, name);
  const cpuBefore = cpuTimeMs(system.pid);
  await load({
    model: "closed",
    request: runRequest(system, workflowId, "async"),
    connections: CONNECTIONS,
    stop: { afterRequests: count },
  });
  const { perSecond } = await runs.summarize(workflowId);
  return { perSecond, cpuUs: ((cpuTimeMs(system.pid) - cpuBefore) * 1_000) / count };
}
