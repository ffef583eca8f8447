import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type { PutDeploymentRequest } from "@workflow/proto/runs/v1/deployments";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { createMetricsRegistry } from "@workflow/service";
import { z } from "zod";
import {
  delay,
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const registry = createMetricsRegistry();
let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness({ metricsRegistry: registry });
});
afterAll(() => harness.close());

const CONTENT = {
  name: "Deployed",
  version: 1,
  triggerJson: '{"type":"api"}',
  stepsJson: JSON.stringify([mapping("a", 1)]),
  inputSchemaJson: undefined,
  outputSchemaJson: undefined,
  settingsJson: undefined,
};

async function put(more: Partial<PutDeploymentRequest>, identity = harness.identity) {
  const request = {
    workflowId: newUuid(),
    revision: 1,
    status: DeploymentStatus.ACTIVE,
    content: CONTENT,
    ...more,
  };
  const response = await harness.deployments.putDeployment(request, { identity });
  return response.revision;
}

/** Content whose run answers with its version. */
function version(number: number) {
  return { ...CONTENT, version: number, stepsJson: JSON.stringify([mapping("a", number)]) };
}

async function outputNow(workflowId: string): Promise<unknown> {
  return outputOf(await harness.runToEnd(workflowId));
}

describe("revisions of a deployment", () => {
  it("replace older ones and are not replaced by them", async () => {
    const workflowId = newUuid();
    expect(await put({ workflowId, revision: 5, content: version(5) })).toBe(5);
    expect(await put({ workflowId, revision: 4, content: version(4) })).toBe(5);
    expect(await outputNow(workflowId)).toBe(5);
    const withdrawal = { status: DeploymentStatus.PAUSED, content: undefined };
    expect(await put({ workflowId, revision: 3, ...withdrawal })).toBe(5);
    expect(await outputNow(workflowId)).toBe(5);
    expect(await put({ workflowId, revision: 6, content: version(6) })).toBe(6);
    expect(await outputNow(workflowId)).toBe(6);
  });

  it("may come twice", async () => {
    const workflowId = newUuid();
    for (let time = 0; time < 3; time++) {
      expect(await put({ workflowId, revision: 2, content: version(2) })).toBe(2);
    }
    expect(await outputNow(workflowId)).toBe(2);
  });

  it("end with the newest when they arrive all at once, in any order", async () => {
    const workflowId = newUuid();
    const revisions = Array.from({ length: 30 }, (_, index) => index + 1);
    const shuffled = revisions.toSorted(() => Math.random() - 0.5);
    const known = await Promise.all(
      shuffled.map((revision) => put({ workflowId, revision, content: version(revision) })),
    );
    expect(known.every((revision, index) => revision >= (shuffled[index] ?? Infinity))).toBe(true);
    expect(await outputNow(workflowId)).toBe(30);
  });

  it("are seen by the next start, whatever another process has in memory", async () => {
    const workflowId = newUuid();
    const other = harness.connect(await harness.startAnother("api"));
    for (let revision = 1; revision <= 10; revision++) {
      await put({ workflowId, revision, content: version(revision) });
      for (const client of [harness.runs, other]) {
        const { run } = await client.startRun(startRequest(workflowId), {
          identity: harness.identity,
        });
        expect(run?.workflowVersion).toBe(revision);
      }
    }
  });
});

describe("a workflow that is withdrawn", () => {
  it("starts no run any more, at once and in every process, while its runs go on", async () => {
    const workflowId = newUuid();
    const stepsJson = JSON.stringify([delay("wait", 300), mapping("a", "done")]);
    await put({ workflowId, content: { ...CONTENT, stepsJson } });
    const other = harness.connect(await harness.startAnother("api"));
    const { identity } = harness;
    const { run } = await other.startRun(startRequest(workflowId), { identity });
    await put({ workflowId, revision: 2, status: DeploymentStatus.PAUSED, content: undefined });
    for (const client of [harness.runs, other]) {
      await expect(client.startRun(startRequest(workflowId), { identity })).rejects.toMatchObject({
        reason: "WORKFLOW_NOT_ACTIVE",
      });
    }
    expect(outputOf(await harness.waitForEnd(run?.id ?? ""))).toBe("done");
  });

  it("starts runs of its new content when it is activated again", async () => {
    const workflowId = newUuid();
    await put({ workflowId, revision: 1, content: version(1) });
    await put({ workflowId, revision: 2, status: DeploymentStatus.PAUSED, content: undefined });
    await put({ workflowId, revision: 3, content: version(3) });
    expect(await outputNow(workflowId)).toBe(3);
  });

  it("is known as archived even if it was never active", async () => {
    const workflowId = newUuid();
    await put({ workflowId, status: DeploymentStatus.ARCHIVED, content: undefined });
    await expect(harness.start(workflowId)).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus: "archived" },
    });
  });
});

it("a run stays with the version that it was started on", async () => {
  const workflowId = newUuid();
  const steps = (text: string) =>
    JSON.stringify([mapping("before", text), delay("wait", 400), mapping("after", text)]);
  await put({ workflowId, content: { ...CONTENT, version: 1, stepsJson: steps("old") } });
  const runId = await harness.start(workflowId);
  await put({
    workflowId,
    revision: 2,
    content: { ...CONTENT, name: "Renamed", version: 2, stepsJson: steps("new") },
  });
  const run = await harness.waitForEnd(runId);
  expect(run).toMatchObject({
    status: RunStatus.COMPLETED,
    workflowVersion: 1,
    workflowName: "Deployed",
  });
  expect(outputOf(run)).toBe("old");
  expect(outputOf(await harness.runToEnd(workflowId))).toBe("new");
});

describe("a hand-over is refused", () => {
  it("without the scope of the workflows service", async () => {
    const identity = { ...testIdentity(), scopes: ["workflows:write", "workflows:execute"] };
    await expect(put({}, identity)).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });

  it("without a token", async () => {
    const request = {
      workflowId: newUuid(),
      revision: 1,
      status: DeploymentStatus.PAUSED,
      content: undefined,
    };
    await expect(harness.deployments.putDeployment(request, {})).rejects.toMatchObject({
      reason: "UNAUTHORIZED",
    });
  });

  it.each<[string, Partial<PutDeploymentRequest>, string[]]>([
    ["active but without content", { content: undefined }, ["content", "content"]],
    ["without a workflow id", { workflowId: "" }, ["content", "workflow_id"]],
    ["without a status", { status: DeploymentStatus.UNSPECIFIED }, ["content", "status"]],
    ["of revision 0", { revision: 0 }, ["content", "revision"]],
    [
      "with steps that are no array",
      { content: { ...CONTENT, stepsJson: "{}" } },
      ["content", "steps_json"],
    ],
    [
      "with a trigger that is not JSON",
      { content: { ...CONTENT, triggerJson: "{" } },
      ["content", "trigger_json"],
    ],
  ])("when it is %s", async (_kind, more, path) => {
    const refused = put(more);
    await expect(refused).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    const violations = await refused.catch(
      (error: { violations: { path: string[] }[] }) => error.violations,
    );
    expect(violations).toMatchObject([{ path }]);
  });

  it.each([
    ["steps of an unknown type", { stepsJson: '[{"id":"a","type":"x","name":"a","config":{}}]' }],
    ["a schema that does not compile", { inputSchemaJson: '{"type":"nonsense"}' }],
    ["settings that make no sense", { settingsJson: '{"timeoutMs":-1}' }],
  ])("when its content has %s, and the version before stays", async (_kind, broken) => {
    const workflowId = newUuid();
    await put({ workflowId, content: version(1) });
    await expect(
      put({ workflowId, revision: 2, content: { ...CONTENT, ...broken } }),
    ).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    expect(await outputNow(workflowId)).toBe(1);
  });

  it("before it is handed over, to whoever asks about its content", async () => {
    const { deployments, identity } = harness;
    expect(await deployments.checkDeployment({ content: CONTENT }, { identity })).toEqual({});
    const steps = [{ id: "a", type: "x", name: "a", config: {} }];
    const content = { ...CONTENT, stepsJson: JSON.stringify(steps) };
    await expect(deployments.checkDeployment({ content }, { identity })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["steps", "0", "type"] }],
    });
    await expect(
      deployments.checkDeployment({ content: undefined }, { identity }),
    ).rejects.toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["content"] }] });
  });

  it("when the workflow is another company's, which keeps its own revisions", async () => {
    const workflowId = newUuid();
    await put({ workflowId, content: version(1) });
    const stranger = testIdentity();
    for (const revision of [1, 2, 9]) {
      await expect(
        put({ workflowId, revision, content: version(666) }, stranger),
      ).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
    expect(await outputNow(workflowId)).toBe(1);
    await put({ workflowId, revision: 2, content: version(2) });
    expect(await outputNow(workflowId)).toBe(2);
    const { rows } = await harness.database.query(sql.type(z.object({ owner: z.string() }))`
      select distinct company_id::text as owner from runs.deployments
      where workflow_id = ${workflowId}
    `);
    expect(rows).toEqual([{ owner: harness.identity.companyId }]);
  });
});

describe("the validation of a definition", () => {
  /** How often definitions were validated, and how often that was known already. */
  async function validations(): Promise<{ made: number; known: number }> {
    const lines = (await registry.metrics()).split("\n");
    const read = (outcome: string): number => {
      const series = `cache_reads_total{cache="definitions",outcome="${outcome}"} `;
      return Number(lines.find((line) => line.startsWith(series))?.slice(series.length) ?? 0);
    };
    return { made: read("miss"), known: read("hit") };
  }

  it("is made once for the question and all hand-overs, also those that come at the same time", async () => {
    const { deployments, identity } = harness;
    // As large as a workflow may be, about.
    const triggerJson = JSON.stringify({
      type: "api",
      list: Array.from({ length: 400_000 }, () => 0),
    });
    const content = { ...CONTENT, triggerJson };
    const before = await validations();
    await Promise.all([
      deployments.checkDeployment({ content }, { identity }),
      ...Array.from({ length: 4 }, () => put({ content })),
    ]);
    await put({ content: { ...content, name: "Renamed", version: 2 } });
    const after = await validations();
    expect({ made: after.made - before.made, known: after.known - before.known }).toEqual({
      made: 1,
      known: 5,
    });
  });

  it("is made again for another company, for another text, and after a refusal", async () => {
    const before = await validations();
    await put({ content: version(1_001) });
    await put({ content: version(1_001) }, testIdentity());
    await put({ content: version(1_002) });
    const wrong = { ...CONTENT, stepsJson: '[{"id":"a","type":"x","name":"a","config":{}}]' };
    for (let time = 0; time < 2; time += 1) {
      await expect(put({ content: wrong })).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    }
    const after = await validations();
    expect({ made: after.made - before.made, known: after.known - before.known }).toEqual({
      made: 5,
      known: 0,
    });
  });
});
