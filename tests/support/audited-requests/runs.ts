import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  delay,
  failing,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../scenarios.ts";
import type { WholeSystem } from "../whole-system.ts";
import { withId } from "./audited-request.ts";
import type { PrepareAudited } from "./audited-request.ts";

const approvals = z.array(withId);

/** Requests of runs that succeed, by route. */
export const RUNS: Readonly<Record<string, PrepareAudited>> = {
  "POST /runs/{id}/cancel": async (system) => {
    const id = await startSleeping(system);
    return { path: `/runs/${id}/cancel`, resourceIds: [id] };
  },
  "POST /runs/{id}/retry": async (system) => {
    const id = await failRun(system);
    return { path: `/runs/${id}/retry`, resourceIds: [id] };
  },
  "POST /runs/{id}/restart": async (system) => {
    const steps = [transform("greet", { text: "Hello" })];
    const { id } = await runToEnd(system, await createActive(system, { steps }));
    return { path: `/runs/${id}/restart`, body: { fromStepId: "greet" }, resourceIds: [id] };
  },
  "POST /runs/bulk": async (system) => {
    const runIds = [await startSleeping(system), await startSleeping(system)];
    const { id: ended } = await runToEnd(system, await createActive(system));
    return {
      path: "/runs/bulk",
      body: { action: "cancel", runIds: [...runIds, ended] },
      resourceIds: runIds,
    };
  },
  "POST /runs/{id}/approvals/{approvalId}": async (system) => {
    const ask = { id: "ask", type: "approval", name: "ask", config: { message: "Go on?" } };
    const id = await startRun(system, await createActive(system, { steps: [ask] }));
    const approvalId = await waitFor(async () => {
      const { data } = await system.call("GET", `/runs/${id}/approvals`);
      return approvals.parse(data)[0]?.id ?? null;
    });
    return {
      path: `/runs/${id}/approvals/${approvalId}`,
      body: { decision: "approved" },
      resourceIds: [id],
    };
  },
};

async function startSleeping(system: WholeSystem): Promise<string> {
  const steps = [delay("sleep", 600_000)];
  const id = await startRun(system, await createActive(system, { steps }));
  await waitForRun(system, id, ["suspended", "running"]);
  return id;
}

async function failRun(system: WholeSystem): Promise<string> {
  const { id } = await runToEnd(system, await createActive(system, { steps: [failing("call")] }));
  return id;
}
