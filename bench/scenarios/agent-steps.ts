import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { createScope } from "@workflow/async";
import { measureRuns } from "../measure-runs.ts";
import { residentMb } from "../memory.ts";
import { MODEL_ANSWER } from "../model-answer.ts";
import { createActiveWorkflow, fetchText, getRequest, postRequest, runRequest } from "../rest.ts";
import type { Figure, Outcome, Scenario, Surroundings } from "../scenario.ts";
import { startReceiver } from "../start-receiver.ts";
import { medianOf } from "../statistics.ts";
import type { System } from "../system.ts";

const STEPS = 10;
const RATE_PER_SECOND = 2;
/** The times of the provider's answers. */
const PROVIDERS_MS = [0, 50] as const;
const IN_FLIGHT = 100;
/** The characters of the inputs of the exchanges under way. */
const INPUT_CHARS = [1_000, 100_000] as const;
/** Longer than it takes to start all exchanges and to read the memory. */
const HELD_MS = 20_000;
const SETTLED_MS = 4_000;

export const agentSteps: Scenario = {
  id: "v",
  title: "Steps that ask an agent",
  method:
    `${RATE_PER_SECOND} runs a second of one and of ${STEPS} agent steps in sequence, in turn; the AI ` +
    `provider is a local host that answers after ${PROVIDERS_MS.join(" or ")} ms. The overhead is the ` +
    `difference of the medians by ${STEPS - 1}, less the median of the same exchange made by the load ` +
    `generator. Memory: ${IN_FLIGHT} runs wait for the provider's answer, with inputs of ` +
    `${INPUT_CHARS.join(" and of ")} characters; what the process holds then after a garbage collection ` +
    "(heap and buffers), less what it held before, by one.",
  async measure(surroundings) {
    const agentId = await createAgent(surroundings);
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= surroundings.sizes.rounds; round += 1) {
      const row: Record<string, number> = {};
      for (const providerMs of PROVIDERS_MS) {
        Object.assign(row, await measureOverhead(surroundings, agentId, providerMs));
      }
      if (round > 0) rounds.push(row);
    }
    const median = (column: string) => medianOf(rounds, (row) => row[column] ?? Number.NaN);
    const figures = PROVIDERS_MS.map((providerMs): Figure => ({
      name: `overhead of an agent step, provider of ${providerMs} ms`,
      value: median(`${providerMs} ms: ms a step`),
      unit: "ms",
      target: { atMost: 5 },
    }));
    for (const chars of INPUT_CHARS)
      figures.push(...(await measureMemory(surroundings, agentId, chars)));
    return { figures, rounds };
  },
};

/** The time of one step beyond the exchange with the provider. */
async function measureOverhead(
  surroundings: Surroundings,
  agentId: string,
  providerMs: number,
): Promise<Record<string, number>> {
  const { load, sizes, system } = surroundings;
  await using scope = createScope();
  const url = await startReceiver(scope, providerMs, system.modelPort, MODEL_ANSWER);
  const steps = Array.from({ length: STEPS }, (_, index) => agentStep(`s${index}`, agentId));
  const one = await measureRuns(surroundings, "One", steps.slice(0, 1), RATE_PER_SECOND);
  const all = await measureRuns(surroundings, "All", steps, RATE_PER_SECOND);
  const exchange = await load({
    model: "open",
    request: {
      url: `${url}/v1/chat/completions`,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "bench", messages: [{ role: "user", content: "Decide." }] }),
    },
    ratePerSecond: RATE_PER_SECOND * STEPS,
    durationMs: sizes.stepsMs / 2,
  });
  const label = (name: string): string => `${providerMs} ms: ${name}`;
  return {
    [label("one p50")]: one.p50Ms,
    [label(`${STEPS} p50`)]: all.p50Ms,
    [label("exchange p50")]: exchange.p50Ms,
    [label("ms a step")]: (all.p50Ms - one.p50Ms) / (STEPS - 1) - exchange.p50Ms,
  };
}

/** The memory of runs that wait for the provider. */
async function measureMemory(
  { load, runs, system }: Surroundings,
  agentId: string,
  chars: number,
): Promise<Figure[]> {
  await using scope = createScope();
  await startReceiver(scope, HELD_MS, system.modelPort, MODEL_ANSWER);
  const workflowId = await createActiveWorkflow(system, "Held", [agentStep("ask", agentId)]);
  const before = await system.collectGarbage();
  const residentBefore = residentMb(system.pid);
  await load({
    model: "closed",
    request: runRequest(system, workflowId, "async", { text: "x".repeat(chars) }),
    connections: 10,
    stop: { afterRequests: IN_FLIGHT },
  });
  await sleep(SETTLED_MS);
  const held = (await system.collectGarbage()) - before;
  const resident = residentMb(system.pid) - residentBefore;
  const asked = await countRunning(system, agentId);
  if (asked !== IN_FLIGHT) throw new Error(`${asked} of ${IN_FLIGHT} steps were in flight.`);
  await runs.summarize(workflowId);
  const name = `${IN_FLIGHT} agent steps in flight, inputs of ${chars} characters`;
  return [
    { name: `held by ${name}`, value: held, unit: "MB" },
    { name: `resident set with ${name}, more than before`, value: resident, unit: "MB" },
  ];
}

const created = z.object({ data: z.object({ id: z.string() }) });

async function createAgent({ system }: Surroundings): Promise<string> {
  const body = { name: "Bench", type: "decision", systemPrompt: "Decide." };
  const answer = await fetchText(postRequest(system, "/agents", body));
  return created.parse(JSON.parse(answer)).data.id;
}

const executions = z.object({ data: z.array(z.object({ status: z.string() })) });

async function countRunning(system: System, agentId: string): Promise<number> {
  const answer = await fetchText(getRequest(system, `/agents/${agentId}/executions?limit=100`));
  const { data } = executions.parse(JSON.parse(answer));
  return data.filter(({ status }) => status === "running").length;
}

function agentStep(id: string, agentId: string) {
  return { id, type: "agent", name: id, config: { agentId, input: "{{input}}" } };
}
