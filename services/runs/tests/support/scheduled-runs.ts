import { afterEach, beforeEach } from "@jest/globals";
import { sql } from "@workflow/db";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { listRequest, mapping, startRunsHarness } from "./runs-harness.ts";
import type { RunsHarness, WorkflowContent } from "./runs-harness.ts";

/** Steps of workflows of which only the firing counts. */
export const ECHO = [mapping("echo", "{{input}}")];

const firedRow = z.object({ scheduled_at: z.string(), schedule_id: z.string() });

/**
 * Workflows with schedules, in a runs service whose schedulers take the test's time for the present. Each case of
 * the file gets a new service.
 */
export class ScheduledRuns {
  /** The present; moves when a test says so. */
  now = new Date();
  #harness: RunsHarness | undefined;

  /** To be called at the top of a file. */
  constructor() {
    beforeEach(async () => {
      this.now = new Date("2026-03-01T10:20:30Z");
      this.#harness = await startRunsHarness({ now: () => this.now });
    });
    afterEach(() => this.harness.close());
  }

  get harness(): RunsHarness {
    if (this.#harness === undefined) throw new Error("The service is not started yet.");
    return this.#harness;
  }

  deploy(
    trigger: object,
    steps: readonly unknown[] = ECHO,
    more: Partial<WorkflowContent> = {},
  ): Promise<string> {
    return this.harness.deploy(steps, { trigger: { type: "schedule", ...trigger }, ...more });
  }

  /** Pauses a workflow. */
  async withdraw(workflowId: string, revision: number): Promise<void> {
    await this.harness.deployments.putDeployment(
      { workflowId, revision, status: DeploymentStatus.PAUSED, content: undefined },
      { identity: this.harness.identity },
    );
  }

  /** The schedule of a workflow. */
  get(workflowId: string, from = this.harness): Promise<Schedule> {
    return from.schedules.getSchedule({ workflowId }, { identity: from.identity });
  }

  trigger(workflowId: string): Promise<{ run?: Run | undefined }> {
    const { schedules, identity } = this.harness;
    return schedules.triggerSchedule({ workflowId }, { identity });
  }

  async listRuns(workflowId: string, from = this.harness): Promise<Run[]> {
    const request = listRequest({ workflowId, page: { limit: 100, cursor: "" } });
    const { runs } = await from.runs.listRuns(request, { identity: from.identity });
    return runs;
  }

  /** Moves the clock and waits until the workflow's schedule has moved on behind it. */
  async passTo(time: string, workflowId: string, from = this.harness): Promise<Schedule> {
    this.now = new Date(time);
    return waitFor(
      async () => {
        const schedule = await this.get(workflowId, from);
        const { nextRunAt } = schedule;
        return nextRunAt === undefined || nextRunAt > this.now ? schedule : null;
      },
      { what: `the schedule to fire at ${time}` },
    );
  }

  /** For which moments a workflow's runs were started, the earliest first. */
  async firings(workflowId: string): Promise<string[]> {
    const rows = await this.harness.database.any(sql.type(firedRow)`
      select trigger_data ->> 'scheduledAt' as scheduled_at, schedule_id
      from runs.runs where workflow_id = ${workflowId} order by 1
    `);
    return rows.map((row) => row.scheduled_at);
  }
}
