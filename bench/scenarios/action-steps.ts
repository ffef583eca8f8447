import { z } from "zod";
import { measureRuns } from "../measure-runs.ts";
import { createActiveWorkflow, fetchText, postRequest, runRequest } from "../rest.ts";
import type { Outcome, Scenario, Surroundings } from "../scenario.ts";
import { startReceiver } from "../start-receiver.ts";
import { medianOf } from "../statistics.ts";

const STEPS = 10;
const RATE_PER_SECOND = 5;
const CONNECTIONS = 16;

const connected = z.object({ data: z.object({ id: z.string() }) });

export const actionSteps: Scenario = {
  id: "u",
  title: "Steps with a provider's action",
  method:
    `${RATE_PER_SECOND} runs a second of one and of ${STEPS} actions of a provider in sequence, in turn, ` +
    "with a connection; the provider is a local host that answers at once, each result is committed " +
    `before the next step begins. The overhead is the difference of the medians by ${STEPS - 1}, less ` +
    "the median of the same call made by the load generator. Then synchronous runs with " +
    `${STEPS} of them side by side, over ${CONNECTIONS} connections.`,
  async measure(surroundings) {
    const { load, scope, sizes, system } = surroundings;
    const url = await startReceiver(scope, 0, system.providerPort);
    const connectionId = await connect(surroundings);
    const steps = Array.from({ length: STEPS }, (_, index) => action(`s${index}`, connectionId));
    const request = {
      url: `${url}/contacts`,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"email":"ada@example.com"}',
    } as const;
    const side = [
      {
        id: "fan",
        type: "parallel",
        name: "fan",
        config: { branches: steps.map((step) => ({ id: step.id, steps: [step] })) },
      },
    ];
    const fan = runRequest(system, await createActiveWorkflow(system, "Fan", side), "sync");
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= sizes.rounds; round += 1) {
      const one = await measureRuns(surroundings, "One", steps.slice(0, 1), RATE_PER_SECOND);
      const all = await measureRuns(surroundings, "All", steps, RATE_PER_SECOND);
      const call = await load({
        model: "open",
        request,
        ratePerSecond: RATE_PER_SECOND * STEPS,
        durationMs: sizes.stepsMs / 2,
      });
      const many = await load({
        model: "closed",
        request: fan,
        connections: CONNECTIONS,
        stop: { afterMs: sizes.roundMs },
      });
      if (many.failed > 0) throw new Error(`${many.failed} runs failed: ${many.failure ?? ""}`);
      if (round === 0) continue;
      rounds.push({
        "one action p50 ms": one.p50Ms,
        [`${STEPS} actions p50 ms`]: all.p50Ms,
        "the call itself p50 ms": call.p50Ms,
        "ms a step": (all.p50Ms - one.p50Ms) / (STEPS - 1) - call.p50Ms,
        "actions /s": many.perSecond * STEPS,
      });
    }
    return report(rounds);
  },
};

function report(rounds: Outcome["rounds"]): Outcome {
  const median = (column: string) => medianOf(rounds, (row) => row[column] ?? Number.NaN);
  return {
    figures: [
      {
        name: "overhead of an action step",
        value: median("ms a step"),
        unit: "ms",
        target: { atMost: 2 },
      },
      {
        name: `action steps, ${CONNECTIONS} connections`,
        value: median("actions /s"),
        unit: "/s",
        target: { atLeast: 400 },
      },
      { name: "the call itself, p50", value: median("the call itself p50 ms"), unit: "ms" },
    ],
    rounds,
  };
}

async function connect({ system }: Surroundings): Promise<string> {
  const body = { apiKey: "re_bench", name: "Bench" };
  const answer = await fetchText(postRequest(system, "/connections/resend/api-key", body));
  return connected.parse(JSON.parse(answer)).data.id;
}

function action(id: string, connectionId: string) {
  const config = { connectionId, email: "{{input.customer.email}}" };
  return { id, type: "action", name: id, action: "resend.createContact", config };
}
