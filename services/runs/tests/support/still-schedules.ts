import { afterAll, beforeAll } from "@jest/globals";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type { Schedule, UpdateScheduleRequest } from "@workflow/proto/runs/v1/schedules";
import { mapping, startRunsHarness } from "./runs-harness.ts";
import type { RunsHarness } from "./runs-harness.ts";

/** An hour after the usual time of the clock. */
export const LATER = new Date("2026-03-01T11:22:33.444Z");

/** Steps of workflows of which only the schedule counts. */
export const STEPS = [mapping("echo", {})];

/** Schedules under a clock that stands still, so that a test can name every time in advance. */
export class StillSchedules {
  /** The time of the clock, on a Sunday. */
  now = new Date("2026-03-01T10:20:30.400Z");
  #harness: RunsHarness | undefined;

  /** Starts one service for the cases of a file; to be called at the file's top. */
  constructor() {
    beforeAll(async () => {
      this.#harness = await startRunsHarness({ now: () => this.now });
    });
    afterAll(() => this.harness.close());
  }

  get harness(): RunsHarness {
    if (this.#harness === undefined) throw new Error("The service is not started yet.");
    return this.#harness;
  }

  /** Deploys a workflow with a schedule trigger, or another revision of one. */
  deploy(trigger: object, workflow: { workflowId?: string; revision?: number } = {}) {
    return this.harness.deploy(STEPS, { trigger: { type: "schedule", ...trigger }, ...workflow });
  }

  withdraw(workflowId: string, revision: number, status: "PAUSED" | "ARCHIVED") {
    return this.harness.deployments.putDeployment(
      { workflowId, revision, status: DeploymentStatus[status], content: undefined },
      { identity: this.harness.identity },
    );
  }

  get(workflowId: string, identity = this.harness.identity): Promise<Schedule> {
    return this.harness.schedules.getSchedule({ workflowId }, { identity });
  }

  put(
    workflowId: string,
    change: Partial<Omit<UpdateScheduleRequest, "workflowId">>,
    identity = this.harness.identity,
  ): Promise<Schedule> {
    const request = {
      workflowId,
      cron: undefined,
      interval: undefined,
      timezone: undefined,
      enabled: undefined,
      ...change,
    };
    return this.harness.schedules.updateSchedule(request, { identity });
  }

  /** Does something while the clock shows another time. */
  async at<T>(time: Date, act: () => Promise<T>): Promise<T> {
    const before = this.now;
    this.now = time;
    try {
      return await act();
    } finally {
      this.now = before;
    }
  }
}
