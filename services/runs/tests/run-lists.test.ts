import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { idTimestamp, newId, newUuid, sql } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { ListRunsRequest } from "@workflow/proto/runs/v1/runs";
import { z } from "zod";
import { listRequest, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const STATUSES = [
  "pending",
  "running",
  "waiting_approval",
  "suspended",
  "completed",
  "failed",
  "cancelled",
  "timeout",
] as const;
const ENDED: readonly string[] = ["completed", "failed", "cancelled", "timeout"];
const TRIGGERS = ["api", "webhook", "schedule", "manual"] as const;
const MESSAGE_STATUS = {
  pending: RunStatus.PENDING,
  running: RunStatus.RUNNING,
  waiting_approval: RunStatus.WAITING_APPROVAL,
  suspended: RunStatus.SUSPENDED,
  completed: RunStatus.COMPLETED,
  failed: RunStatus.FAILED,
  cancelled: RunStatus.CANCELLED,
  timeout: RunStatus.TIMEOUT,
} as const;
const MESSAGE_TRIGGER = {
  api: TriggerType.API,
  webhook: TriggerType.WEBHOOK,
  schedule: TriggerType.SCHEDULE,
  manual: TriggerType.MANUAL,
} as const;

interface StoredRun {
  id: string;
  workflowId: string;
  tags: readonly string[];
  status: (typeof STATUSES)[number];
  trigger: (typeof TRIGGERS)[number];
}

let harness: RunsHarness;
/** Every run of the company, newest first. */
let all: StoredRun[];
let workflows: { id: string; tags: string[] }[];

beforeAll(async () => {
  // Nobody executes what is inserted here.
  harness = await startRunsHarness({ role: "api" });
  workflows = [];
  for (const tags of [[], ["red"], ["red", "rare"], ["blue"]]) {
    const id = await harness.deploy([mapping("a", 1)], { settings: { tags } });
    workflows.push({ id, tags });
  }
  // More tagged workflows than are looked at one by one.
  for (let count = 0; count < 25; count++) {
    const id = await harness.deploy([mapping("a", 1)], { settings: { tags: ["many"] } });
    workflows.push({ id, tags: ["many"] });
  }
  all = Array.from({ length: 1_500 }, (_, index): StoredRun => {
    const { id: workflowId, tags } = workflows[(index * 7) % workflows.length] ?? {
      id: "",
      tags: [],
    };
    return {
      id: newId("run_"),
      workflowId,
      tags,
      status: STATUSES[index % 97 < 80 ? 4 : index % STATUSES.length] ?? "completed",
      trigger: TRIGGERS[index % 13 === 0 ? index % 4 : 0] ?? "api",
    };
  });
  await harness.database.query(sql.type(z.object({}))`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
      created_at, completed_at
    )
    select run.id, ${harness.identity.companyId}, run.workflow_id::uuid, deployment.id, 1,
      run.status, run.trigger_type, '{}', run.created_at::timestamptz, run.completed_at::timestamptz
    from ${sql.unnest(
      all.map((run) => [
        run.id,
        run.workflowId,
        run.status,
        run.trigger,
        idTimestamp(run.id).toISOString(),
        ENDED.includes(run.status) ? idTimestamp(run.id).toISOString() : null,
      ]),
      ["text", "text", "text", "text", "text", "text"],
    )} as run (id, workflow_id, status, trigger_type, created_at, completed_at)
    join runs.deployments as deployment on deployment.workflow_id = run.workflow_id::uuid
  `);
  all.reverse();
});
afterAll(() => harness.close());

/** Every id that a filter finds, page by page. */
async function listIds(filter: Partial<ListRunsRequest>, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const request = listRequest({ ...filter, page: { limit, cursor } });
    const page = await harness.runs.listRuns(request, { identity: harness.identity });
    ids.push(...page.runs.map(({ id }) => id));
    cursor = page.page?.cursor ?? "";
  } while (cursor !== "");
  return ids;
}

const idsOf = (runs: readonly StoredRun[]) => runs.map(({ id }) => id);

describe("a list of runs", () => {
  it("holds every run of the company once, newest first", async () => {
    expect(await listIds({}, 100)).toEqual(idsOf(all));
  });

  it("shows when each run was accepted by its id", async () => {
    const { runs } = await harness.runs.listRuns(listRequest(), { identity: harness.identity });
    for (const run of runs) expect(run.createdAt).toEqual(idTimestamp(run.id));
  });

  it.each([
    [["completed"]],
    [["failed"]],
    [["pending", "running", "waiting_approval"]],
    [["timeout", "timeout"]],
    [STATUSES],
  ] as const)("holds those with a status of %j", async (statuses) => {
    const filter = { statuses: statuses.map((status) => MESSAGE_STATUS[status]) };
    const expected = all.filter(({ status }) => statuses.some((each) => each === status));
    expect(await listIds(filter, 7)).toEqual(idsOf(expected));
  });

  it.each(TRIGGERS)("holds those started by %s, alone and with a status", async (trigger) => {
    const triggerType = MESSAGE_TRIGGER[trigger];
    const started = all.filter((run) => run.trigger === trigger);
    expect(await listIds({ triggerType }, 100)).toEqual(idsOf(started));
    expect(await listIds({ triggerType, statuses: [RunStatus.FAILED] }, 2)).toEqual(
      idsOf(started.filter(({ status }) => status === "failed")),
    );
  });

  it("holds those of one workflow, with every other filter", async () => {
    const workflowId = workflows[1]?.id ?? "";
    const own = all.filter((run) => run.workflowId === workflowId);
    expect(own.length).toBeGreaterThan(10);
    expect(await listIds({ workflowId }, 5)).toEqual(idsOf(own));
    expect(await listIds({ workflowId, statuses: [RunStatus.COMPLETED] }, 5)).toEqual(
      idsOf(own.filter(({ status }) => status === "completed")),
    );
    expect(await listIds({ workflowId, tag: "red" }, 5)).toEqual(idsOf(own));
    expect(await listIds({ workflowId, tag: "blue" }, 5)).toEqual([]);
    expect(await listIds({ workflowId: newUuid() }, 5)).toEqual([]);
  });

  it.each(["red", "rare", "blue", "many", "none"])("holds those with the tag %s", async (tag) => {
    const tagged = all.filter(({ tags }) => tags.includes(tag));
    expect(await listIds({ tag }, 100)).toEqual(idsOf(tagged));
    expect(await listIds({ tag, statuses: [RunStatus.FAILED, RunStatus.CANCELLED] }, 3)).toEqual(
      idsOf(tagged.filter(({ status }) => status === "failed" || status === "cancelled")),
    );
  });

  it("holds those from one moment to before another, across pages", async () => {
    const times = all.map(({ id }) => idTimestamp(id).getTime());
    const newest = times[0] ?? 0;
    const oldest = times.at(-1) ?? 0;
    for (const [from, to] of [
      [oldest, newest],
      [oldest + 1, newest + 1],
      [times[700] ?? 0, times[300] ?? 0],
      [newest, newest],
      [newest + 1, newest + 1_000],
      [0, oldest],
      [-62_135_596_800_000, 253_402_300_799_000],
    ] as const) {
      const expected = all.filter((_run, index) => {
        const time = times[index] ?? 0;
        return from <= time && time < to;
      });
      const filter = { createdAfter: new Date(from), createdBefore: new Date(to) };
      expect(await listIds(filter, 100)).toEqual(idsOf(expected));
      const failed = expected.filter(({ status }) => status === "failed");
      expect(await listIds({ ...filter, statuses: [RunStatus.FAILED] }, 10)).toEqual(idsOf(failed));
    }
  });

  it("refuses a cursor with any other filter", async () => {
    const first = await harness.runs.listRuns(
      listRequest({ statuses: [RunStatus.COMPLETED], page: { limit: 2, cursor: "" } }),
      { identity: harness.identity },
    );
    const page = { limit: 2, cursor: first.page?.cursor ?? "" };
    for (const filter of [
      {},
      { statuses: [RunStatus.FAILED] },
      { statuses: [RunStatus.COMPLETED], tag: "red" },
      { statuses: [RunStatus.COMPLETED], triggerType: TriggerType.API },
    ]) {
      await expect(
        harness.runs.listRuns(listRequest({ ...filter, page }), { identity: harness.identity }),
      ).rejects.toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["cursor"] }] });
    }
  });
});
