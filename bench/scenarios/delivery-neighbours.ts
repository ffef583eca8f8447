import { freePort } from "@workflow/testkit";
import type { Arrivals } from "../delivery-protocol.ts";
import { makeEndpoint, makeEndpoints } from "../endpoints.ts";
import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Scenario, Surroundings } from "../scenario.ts";
import { startDeliveryReceiver } from "../start-delivery-receiver.ts";
import type { DeliveryReceiver } from "../start-delivery-receiver.ts";
import { medianOf } from "../statistics.ts";

const RATE_PER_SECOND = 20;
/** The runs of the company with bad receivers; each makes a delivery to each of its endpoints. */
const BAD_RUNS = 10;
/** Longer than an attempt may take. */
const SLEEPS_MS = 20_000;
const SLEEPERS = 100;

export const deliveryNeighbours: Scenario = {
  id: "z",
  title: "Deliveries beside bad receivers",
  method:
    `${RATE_PER_SECOND} runs a second of a company with one endpoint: from completedAt to the first byte at its receiver. ` +
    "Alone; while another company has 1,000 endpoints (50 with --quick) where nobody listens; and while one has " +
    `${SLEEPERS} whose receiver answers after ${SLEEPS_MS / 1_000} s. Those have ${BAD_RUNS} runs before each measurement. ` +
    "Alone comes first: what the others leave behind is attempted for hours.",
  async measure(surroundings) {
    const { sizes, scope } = surroundings;
    const receiver = await startDeliveryReceiver(scope);
    const modest = await measured(surroundings, receiver);
    const nobody = `http://127.0.0.1:${await freePort()}/`;
    const startDead = await badCompany(surroundings, "dead", sizes.deadEndpoints, () => nobody);
    await receiver.answer("sleeps", { afterMs: SLEEPS_MS });
    const startSleeping = await badCompany(surroundings, "sleeping", SLEEPERS, (n) =>
      receiver.urlOf("sleeps", n),
    );
    await modest();
    const nobodyStarts = () => Promise.resolve();
    const alone = await repeatedly(sizes.rounds, nobodyStarts, modest);
    const besideDead = await repeatedly(sizes.rounds, startDead, modest);
    const besideSleeping = await repeatedly(sizes.rounds, startSleeping, modest);
    const p99 = (all: readonly Arrivals[]) => medianOf(all, ({ p99Ms }) => p99Ms);
    return {
      figures: [
        { name: "p99 alone", value: p99(alone), unit: "ms" },
        {
          name: "p99 beside dead endpoints",
          value: p99(besideDead),
          unit: "ms",
          target: { atMost: p99(alone) * 1.2 },
        },
        {
          name: "p99 beside a receiver that sleeps",
          value: p99(besideSleeping),
          unit: "ms",
          target: { atMost: p99(alone) * 1.2 },
        },
      ],
      rounds: alone.map((each, round) => ({
        "alone p50 ms": each.p50Ms,
        "alone p99 ms": each.p99Ms,
        "dead p50 ms": besideDead[round]?.p50Ms ?? Number.NaN,
        "dead p99 ms": besideDead[round]?.p99Ms ?? Number.NaN,
        "sleeping p50 ms": besideSleeping[round]?.p50Ms ?? Number.NaN,
        "sleeping p99 ms": besideSleeping[round]?.p99Ms ?? Number.NaN,
      })),
    };
  },
};

/** Measures again and again, each time right after the start of something else. */
async function repeatedly(
  rounds: number,
  begin: () => Promise<unknown>,
  measure: () => Promise<Arrivals>,
): Promise<Arrivals[]> {
  const all: Arrivals[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await begin();
    all.push(await measure());
  }
  return all;
}

/** Makes the measured company; returns the function that measures it. */
async function measured({ system, load, runs, sizes }: Surroundings, receiver: DeliveryReceiver) {
  const modest = { ...system, apiKey: await system.addCompany("modest-receiver") };
  await makeEndpoint(modest, "Modest", receiver.urlOf("modest"));
  const workflowId = await createActiveWorkflow(modest, "Modest");
  const request = runRequest(modest, workflowId, "async");
  const durationMs = sizes.roundMs;
  return async () => {
    await load({ model: "open", request, ratePerSecond: RATE_PER_SECOND, durationMs });
    await runs.drained();
    return receiver.collect("modest", Math.round((RATE_PER_SECOND * durationMs) / 1_000));
  };
}

/**
 * Makes a company with bad receivers; returns the function that makes deliveries for all of them.
 */
async function badCompany(
  { system, load }: Surroundings,
  name: string,
  endpoints: number,
  urlOf: (index: number) => string,
): Promise<() => Promise<unknown>> {
  const bad = { ...system, apiKey: await system.addCompany(name) };
  await makeEndpoints(bad, endpoints, urlOf);
  const workflowId = await createActiveWorkflow(bad, name);
  const request = runRequest(bad, workflowId, "async");
  const job = { model: "closed", request, connections: 1 } as const;
  return () => load({ ...job, stop: { afterRequests: BAD_RUNS } });
}
