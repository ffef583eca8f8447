import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createActive, delay, postRun, runIdOf, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

const BACKLOG = 60;
const WATCHERS = 3;
const SYNC_WAITS = 2;

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem({
    companyLimits: {
      companyBacklogMax: BACKLOG,
      companyWatchersMax: WATCHERS,
      companySyncWaitsMax: SYNC_WAITS,
    },
  });
});
afterAll(() => system.stop());

const nothing = sql.type(z.object({}));

/** A company's answer when it has as much as it may have. */
const limited = (limit: string) => ({
  status: 429,
  error: { code: "RATE_LIMITED", details: { limit } },
});

async function countRuns(workflowId: string): Promise<number> {
  return system.database.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count from runs.runs where workflow_id = ${workflowId}
  `);
}

describe("a company with as many pending runs as it may have (D57)", () => {
  it("is told to come again, by every start of a run, until some have begun", async () => {
    const workflowId = await createActive(system, { steps: [transform("a", 1)] });
    const first = await postRun(system, workflowId, { mode: "sync" });
    const runId = runIdOf(first);
    // Runs that nobody executes.
    await system.database.query(nothing`
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input, created_at
      )
      select 'run_' || lpad(n::text, 26, '0'), company_id, workflow_id, deployment_id,
        workflow_version, trigger_type, input, now()
      from runs.runs, generate_series(1, ${BACKLOG}) as n
      where id = ${runId}
    `);
    const refusal = await waitFor(async () => {
      const answer = await postRun(system, workflowId);
      return answer.status === 429 ? answer : null;
    });
    expect(refusal).toMatchObject(limited("backlog"));
    expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await postRun(system, workflowId, { mode: "sync" })).toMatchObject(limited("backlog"));
    const restart = await system.call("POST", `/runs/${runId}/restart`, {
      body: { fromStepId: "a" },
    });
    expect(restart).toMatchObject(limited("backlog"));
    const { globex } = system;
    const other = await createActive(system, { steps: [transform("a", 1)] }, { key: globex.key });
    expect(await postRun(system, other, { mode: "sync" }, { key: globex.key })).toMatchObject({
      status: 200,
    });
    await system.database.query(nothing`
      delete from runs.runs where workflow_id = ${workflowId} and status = 'pending'
    `);
    await waitFor(async () => (await postRun(system, workflowId)).status === 202);
  });
});

describe("a company that watches as many runs as it may", () => {
  it("is told to come again, and others watch all the same (M10)", async () => {
    const open: AbortController[] = [];
    const watch = async (company: Company, runId: string): Promise<Response> => {
      const stop = new AbortController();
      open.push(stop);
      return fetch(`${system.origin}/api/v1/runs/${runId}/events`, {
        headers: { "x-api-key": company.key },
        signal: stop.signal,
      });
    };
    const waiting = await createActive(system, { steps: [delay("wait", 600_000)] });
    const runId = runIdOf(await postRun(system, waiting));
    for (let count = 0; count < WATCHERS; count += 1) {
      expect((await watch(system.acme, runId)).status).toBe(200);
    }
    const refused = await watch(system.acme, runId);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { details: { limit: "watchers" } } });
    const { globex } = system;
    const other = await createActive(
      system,
      { steps: [delay("wait", 600_000)] },
      { key: globex.key },
    );
    const otherRunId = runIdOf(await postRun(system, other, {}, { key: globex.key }));
    expect((await watch(globex, otherRunId)).status).toBe(200);
    open[0]?.abort();
    await waitFor(async () => (await watch(system.acme, runId)).status === 200);
    for (const stop of open) stop.abort();
  });
});

describe("a company with as many callers that wait for their runs as it may have", () => {
  it("has no run started that would be waited for, and others wait all the same (M10)", async () => {
    const workflowId = await createActive(system, { steps: [delay("wait", 600_000)] });
    const callers = Array.from({ length: SYNC_WAITS }, () =>
      postRun(system, workflowId, { mode: "sync", maxExecutionTimeMs: 300_000 }),
    );
    await waitFor(async () => (await countRuns(workflowId)) === SYNC_WAITS);
    expect(await postRun(system, workflowId, { mode: "sync" })).toMatchObject(limited("syncWaits"));
    expect(await countRuns(workflowId)).toBe(SYNC_WAITS);
    expect(await postRun(system, workflowId)).toMatchObject({ status: 202 });
    const { globex } = system;
    const other = await createActive(system, { steps: [transform("a", 1)] }, { key: globex.key });
    expect(await postRun(system, other, { mode: "sync" }, { key: globex.key })).toMatchObject({
      status: 200,
    });
    const runs = await system.call("GET", `/workflows/${workflowId}/runs`);
    for (const { id } of z.array(z.object({ id: z.string() })).parse(runs.data)) {
      await system.call("POST", `/runs/${id}/cancel`);
    }
    await Promise.all(callers);
    const quick = await createActive(system, { steps: [transform("a", 1)] });
    expect(await postRun(system, quick, { mode: "sync" })).toMatchObject({ status: 200 });
  });
});
