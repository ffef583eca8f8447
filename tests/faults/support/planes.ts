import { expect } from "@jest/globals";
import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { GatewayName, SeparateSystem } from "../../support/separate-system.ts";

/** The promise: so long after the last fault both planes know the same. */
const RECOVERY_MS = 60_000;

const planesRow = z.object({
  status: z.string(),
  version: z.number(),
  /** One more with each change that has to be handed over. */
  revision: z.number(),
  /** The newest revision that the control plane believes to have arrived. */
  deployedRevision: z.number(),
  /** What the execution plane has; null: nothing. */
  head: z
    .object({ revision: z.number(), status: z.string(), version: z.number().nullable() })
    .nullable(),
});
/** What the databases of both planes tell of a workflow. */
type Planes = z.infer<typeof planesRow>;

/** What both planes have stored of a workflow, whatever their processes do. */
export function readPlanes(database: Database, workflowId: string): Promise<Planes> {
  return database.one(sql.type(planesRow)`
    select workflow.status, workflow.version, workflow.deploy_revision as revision,
      workflow.deployed_revision as "deployedRevision",
      case when head.workflow_id is not null then json_build_object(
        'revision', head.revision, 'status', head.status, 'version', deployment.version
      ) end as head
    from workflows.workflows as workflow
    left join runs.deployment_heads as head on head.workflow_id = workflow.id
    left join runs.deployments as deployment on deployment.id = head.deployment_id
    where workflow.id = ${workflowId}
  `);
}

/** Content of a workflow whose runs answer with a value. */
export function answering(value: unknown) {
  return { steps: [{ id: "out", type: "transform", name: "out", config: { mapping: value } }] };
}

/** A new draft whose runs answer with "first". */
export async function createDraft(system: SeparateSystem, gateway?: GatewayName): Promise<string> {
  const body = { name: "Handed over", trigger: { type: "api" }, ...answering("first") };
  const created = await system.call("POST", "/workflows", body, gateway);
  expect(created.status).toBe(201);
  return String(created.body.data["id"]);
}

/** The same, active. */
export async function createActive(system: SeparateSystem): Promise<string> {
  const id = await createDraft(system);
  expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
  return id;
}

/** The same, active before and paused now. */
export async function createPaused(system: SeparateSystem): Promise<string> {
  const id = await createActive(system);
  expect((await system.call("POST", `/workflows/${id}/pause`)).status).toBe(200);
  return id;
}

const workflowSchema = z.object({
  status: z.string(),
  version: z.number(),
  steps: z.tuple([z.object({ config: z.object({ mapping: z.unknown() }) })]),
});

/**
 * Waits until the workflow's newest change is handed over, without calling for it, and expects that
 * both planes then have the same, and that a run does what GET says.
 */
export async function expectAgreement(
  system: SeparateSystem,
  database: Database,
  workflowId: string,
  gateway?: GatewayName,
): Promise<void> {
  const planes = await waitFor(
    async () => {
      const current = await readPlanes(database, workflowId);
      if (current.deployedRevision === current.revision) return current;
      throw new Error(JSON.stringify(current));
    },
    { timeoutMs: RECOVERY_MS, what: `the hand-over of workflow ${workflowId}` },
  );
  const { revision, status, version } = planes;
  expect(planes.head).toMatchObject({ revision, status });
  if (status === "active") expect(planes.head).toMatchObject({ version });

  // Processes that came back a moment ago are not found yet by all others.
  await system.waitUntilReady(gateway);
  const got = await system.call("GET", `/workflows/${workflowId}`, undefined, gateway);
  const workflow = workflowSchema.parse(got.body.data);
  expect(workflow).toMatchObject({ status, version });
  const run = await runWhenPossible(system, workflowId, { mode: "sync" }, gateway);
  if (status === "active") {
    const [{ config }] = workflow.steps;
    expect([run.status, run.body.data]).toMatchObject([
      200,
      { workflowVersion: version, output: config.mapping },
    ]);
  } else {
    expect([run.status, run.body.error]).toMatchObject([
      400,
      { code: "WORKFLOW_NOT_ACTIVE", details: { currentStatus: status } },
    ]);
  }
}

/**
 * Starts a run and returns the answer. While the execution plane is away it asks again: nothing can
 * be run then, whatever is deployed.
 */
export async function runWhenPossible(
  system: SeparateSystem,
  workflowId: string,
  body?: unknown,
  gateway?: GatewayName,
) {
  return waitFor(
    async () => {
      const run = await system.call("POST", `/workflows/${workflowId}/run`, body, gateway);
      // What is not deployed yet is answered 503 as well, and must not pass for an outage.
      const isDeployed = run.body.error?.message.includes("activation is not complete") !== true;
      return run.status === 503 && isDeployed ? null : run;
    },
    { timeoutMs: RECOVERY_MS, what: `a run of workflow ${workflowId}` },
  );
}
