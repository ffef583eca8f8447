import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { mapping } from "./runs-harness.ts";
import type { RunsHarness } from "./runs-harness.ts";

/** Fills and empties a company's backlog with runs that nobody executes. */
export interface TestBacklog {
  /** Resolves when the service knows that there is no room. */
  fill(): Promise<void>;
  /** Resolves when it knows that there is room. */
  empty(): Promise<void>;
}

const nothing = sql.type(z.object({}));

/** The backlog of the harness's company, which may have `max` pending runs. */
export async function createTestBacklog(harness: RunsHarness, max: number): Promise<TestBacklog> {
  const { database } = harness;
  const workflowId = await harness.deploy([mapping("a", 1)]);
  const { id } = await harness.runToEnd(workflowId);
  const isAdmitted = (): Promise<boolean> =>
    harness.start(workflowId).then(
      () => true,
      () => false,
    );
  return {
    async fill() {
      await database.query(nothing`
        insert into runs.runs (
          id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input,
          created_at
        )
        select 'run_' || lpad(n::text, 26, '0'), company_id, workflow_id, deployment_id,
          workflow_version, trigger_type, input, now()
        from runs.runs, generate_series(1, ${max}) as n
        where id = ${id}
      `);
      await waitFor(async () => !(await isAdmitted()));
    },
    async empty() {
      await database.query(nothing`
        delete from runs.runs where id like 'run_00000000000000000%'
      `);
      await waitFor(isAdmitted);
    },
  };
}
