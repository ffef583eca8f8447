import { setTimeout as sleep } from "node:timers/promises";
import { residentMb } from "../memory.ts";
import { createActiveWorkflow, runRequest, transform } from "../rest.ts";
import type { Scenario } from "../scenario.ts";

const CONNECTIONS = 64;
/**
 * The system accepts and suspends all runs at this rate; for the rest of the time they only wait.
 */
const STARTS_PER_SECOND = 400;
const QUIET_MS = 5_000;

export const suspendedRuns: Scenario = {
  id: "j",
  title: "Waiting runs",
  method:
    "Runs that are suspended until one common moment, and a mapping step after it. Memory is the " +
    "resident set of the one Node process of all services, some seconds after the last of them " +
    "was suspended: as it is, which includes what the burst of starts left behind, and after a " +
    "garbage collection, which is what the waiting runs hold. The rate is their number by the time " +
    "from that moment to the last completedAt.",
  async measure({ system, load, runs, sizes }) {
    const before = residentMb(system.pid);
    const acceptMs = (sizes.suspendedRuns / STARTS_PER_SECOND) * 1_000;
    const dueAt = Date.now() + acceptMs + 2 * QUIET_MS + 10_000;
    const until = new Date(dueAt).toISOString();
    const workflowId = await createActiveWorkflow(system, "Suspended", [
      { id: "wait", type: "delay", name: "wait", config: { until: "{{input.until}}" } },
      transform("after", { resumedAt: "{{steps.wait.output.resumedAt}}" }),
    ]);
    await load({
      model: "closed",
      request: runRequest(system, workflowId, "async", { until }),
      connections: CONNECTIONS,
      stop: { afterRequests: sizes.suspendedRuns },
    });
    await runs.suspended(workflowId, sizes.suspendedRuns);
    await sleep(QUIET_MS);
    const waiting = residentMb(system.pid);
    await system.collectGarbage();
    const held = residentMb(system.pid);
    if (Date.now() >= dueAt) throw new Error("The runs took too long to be suspended.");
    const awake = await runs.completions(workflowId, new Date(dueAt));
    return {
      figures: [
        {
          name: `memory with ${sizes.suspendedRuns} waiting runs, garbage collected`,
          value: held,
          unit: "MB",
          target: { atMost: 300 },
        },
        { name: "memory with them, as it is", value: waiting, unit: "MB" },
        { name: "memory before them, as it is", value: before, unit: "MB" },
        {
          name: "woken and completed",
          value: sizes.suspendedRuns / (awake.lastMs / 1_000),
          unit: "/s",
          target: { atLeast: 1_000 },
        },
        { name: "due → completed, p50", value: awake.p50Ms, unit: "ms" },
        { name: "due → the last completed", value: awake.lastMs, unit: "ms" },
      ],
      rounds: [],
    };
  },
};
