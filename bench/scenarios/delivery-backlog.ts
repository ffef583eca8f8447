import type { Scope } from "@workflow/async";
import { cpuTimeMs } from "../cpu-time.ts";
import { activateEndpoint, allDisabled, makeEndpoints, openDeliveriesLog } from "../endpoints.ts";
import { startPostFloor } from "../floors/post-job.ts";
import { residentMb } from "../memory.ts";
import { createActiveWorkflow, runRequest, transform } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { startDeliveryReceiver } from "../start-delivery-receiver.ts";
import type { DeliveryReceiver } from "../start-delivery-receiver.ts";

const ENDPOINTS = 20;
const CONNECTIONS = 64;
/** With its other members, a body is about 1 KiB. */
const FILLER = { text: "x".repeat(450) };
const FLOOR_FILLER_BYTES = 950;
const SAMPLE_MS = 100;
/** Gone: the first delivery disables the endpoint, and the others are held (D46, D47). */
const GONE = 410;

export const deliveryBacklog: Scenario = {
  id: "x",
  title: "A backlog of deliveries",
  method:
    `A company with ${ENDPOINTS} endpoints that were disabled for answering ${GONE}; runs make deliveries of 1 KiB that ` +
    "are held. Memory is that of the one process of all services: what it holds after a garbage collection with all " +
    "of them pending, and the most of its resident set while they are sent, each less what there was before the runs. " +
    "Then all endpoints are made active, and the rate is the number of deliveries by the time from the first to the " +
    "last at the receiver; attempts are recorded in Postgres meanwhile. Floor: the same number of signed POSTs from a " +
    "process that stores nothing, over as many connections as one company may use.",
  async measure({ load, runs, sizes, scope, ...surroundings }) {
    const system = {
      ...surroundings.system,
      apiKey: await surroundings.system.addCompany("backlog"),
    };
    const receiver = await startDeliveryReceiver(scope);
    const stored = await openDeliveriesLog(scope, system.databaseUrl);
    await receiver.answer("backlog", { status: GONE });
    const workflowId = await createActiveWorkflow(system, "Backlog", [
      transform("echo", { text: "{{input.text}}" }),
    ]);
    const ids = await makeEndpoints(system, ENDPOINTS, (n) => receiver.urlOf("backlog", n));
    const start = (count: number) =>
      load({
        model: "closed",
        request: runRequest(system, workflowId, "async", FILLER),
        connections: CONNECTIONS,
        stop: { afterRequests: count },
      });
    await start(1);
    await allDisabled(system);
    const heldBefore = await system.collectGarbage();
    const residentBefore = residentMb(system.pid);
    await start(sizes.pendingDeliveries / ENDPOINTS);
    await runs.drained();
    await stored.pending(sizes.pendingDeliveries);
    const held = (await system.collectGarbage()) - heldBefore;
    await receiver.answer("backlog", {});
    const peak = watchPeak(system.pid);
    const cpuBefore = cpuTimeMs(system.pid);
    for (const id of ids) await activateEndpoint(system, id);
    const arrived = await receiver.collect("backlog", sizes.pendingDeliveries);
    const resident = peak.end() - residentBefore;
    const cpuUs = ((cpuTimeMs(system.pid) - cpuBefore) * 1_000) / arrived.count;
    const floor = await measureFloor(receiver, sizes.pendingDeliveries, scope);
    return report({ count: sizes.pendingDeliveries, arrived, floor, held, resident, cpuUs });
  },
};

/** The number of deliveries and their rate at the receiver. */
type Arrived = Awaited<ReturnType<DeliveryReceiver["collect"]>>;

async function measureFloor(
  receiver: DeliveryReceiver,
  count: number,
  scope: Scope,
): Promise<Arrived> {
  const post = startPostFloor(scope);
  await post({
    url: receiver.urlOf("floor"),
    count,
    connections: 128,
    ratePerSecond: null,
    bodyBytes: FLOOR_FILLER_BYTES,
  });
  return receiver.collect("floor", count);
}

function report({
  count,
  arrived,
  floor,
  held,
  resident,
  cpuUs,
}: {
  count: number;
  arrived: Arrived;
  floor: Arrived;
  held: number;
  resident: number;
  cpuUs: number;
}): Outcome {
  const name = `${count} pending deliveries`;
  return {
    figures: [
      { name: `held with ${name}`, value: held, unit: "MB", target: { atMost: 300 } },
      {
        name: `resident set while ${name} are sent, more than before`,
        value: resident,
        unit: "MB",
      },
      { name: "delivered", value: arrived.perSecond, unit: "/s", target: { atLeast: 3_000 } },
      {
        name: "delivered, beside the floor",
        value: arrived.perSecond / floor.perSecond,
        unit: "× floor",
      },
    ],
    rounds: [
      {
        "system /s": arrived.perSecond,
        "floor /s": floor.perSecond,
        "system CPU µs a delivery": cpuUs,
        deliveries: arrived.count,
      },
    ],
  };
}

/** Samples the resident set of a process until `end`, which returns the most that there was, in MB. */
function watchPeak(pid: number): { end(): number } {
  let peak = residentMb(pid);
  const timer = setInterval(() => (peak = Math.max(peak, residentMb(pid))), SAMPLE_MS);
  return {
    end() {
      clearInterval(timer);
      return peak;
    },
  };
}
