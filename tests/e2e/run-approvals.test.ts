import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  delay,
  postRun,
  runIdOf,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const ask = (id: string, config: object = {}) => ({
  id,
  type: "approval",
  name: id,
  config: { message: "Go on?", ...config },
});

describe("approvals", () => {
  const approvalSchema = z.strictObject({
    id: z.string().regex(/^apr_[0-9a-z]{26}$/),
    runId: z.string(),
    workflowId: z.string(),
    stepId: z.string(),
    path: z.string(),
    status: z.enum(["waiting", "approved", "rejected", "timed_out", "cancelled"]),
    message: z.string(),
    form: z.unknown(),
    timeoutAt: z.string().nullable(),
    createdAt: z.string(),
    decidedAt: z.string().nullable(),
    decidedBy: z.string().nullable(),
    comment: z.string().nullable(),
    data: z.unknown(),
  });
  const list = async (path: string) =>
    z.array(approvalSchema).parse((await system.call("GET", path)).data);

  it("are listed, decided once, and let the run go on", async () => {
    const form = { type: "object", required: ["amount"] };
    const workflowId = await createActive(system, {
      steps: [ask("pay", { form, timeoutMs: 60_000 })],
    });
    const runId = await startRun(system, workflowId);
    await waitForRun(system, runId, ["waiting_approval"]);
    const [waiting] = await list(`/runs/${runId}/approvals`);
    expect(waiting).toMatchObject({ stepId: "pay", status: "waiting", form, decidedBy: null });
    expect((await list("/approvals?status=waiting")).map(({ id }) => id)).toContain(waiting?.id);

    const path = `/runs/${runId}/approvals/${waiting?.id}`;
    const misfit = await system.call("POST", path, { body: { decision: "approved", data: {} } });
    expect(misfit).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(misfit.error?.details).toMatchObject([{ path: ["data", "amount"] }]);
    const body = { decision: "approved", comment: "fine", data: { amount: 3 } };
    const decided = await system.call("POST", path, { body });
    expect(decided.status).toBe(200);
    expect(approvalSchema.parse(decided.data)).toMatchObject({
      id: waiting?.id,
      status: "approved",
      comment: "fine",
      data: { amount: 3 },
      decidedBy: expect.any(String),
    });
    expect(await waitForRun(system, runId)).toMatchObject({
      status: "completed",
      output: { decision: "approved", comment: "fine", data: { amount: 3 } },
    });
    expect(await system.call("POST", path, { body })).toMatchObject({
      status: 409,
      error: { code: "CONFLICT", details: { status: "approved" } },
    });
  });

  it.each([
    [{}, ["decision"]],
    [{ decision: "maybe" }, ["decision"]],
    [{ decision: "approved", comment: 3 }, ["comment"]],
    [{ decision: "rejected", comment: "long ".repeat(801) }, ["comment"]],
  ])("refuse a decision %#", async (body, path) => {
    const answer = await system.call(
      "POST",
      "/runs/run_01jzsa0pjtf9d8m9d8m9d8m9d8/approvals/apr_01jzsa0pjtf9d8m9d8m9d8m9d8",
      { body },
    );
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toMatchObject([{ path }]);
  });

  it("refuse a status filter that is none, and a forged cursor", async () => {
    for (const [query, field] of [
      ["status=open", "status"],
      ["limit=0", "limit"],
      ["cursor=forged", "cursor"],
    ]) {
      const answer = await system.call("GET", `/approvals?${query}`);
      expect(answer).toMatchObject({ status: 400, error: { details: [{ path: [field] }] } });
    }
  });

  it("in parallel branches and loops survive each other", async () => {
    const steps = [
      {
        id: "par",
        type: "parallel",
        name: "par",
        config: {
          branches: [
            {
              id: "left",
              steps: [
                {
                  id: "loop",
                  type: "loop",
                  name: "loop",
                  config: { count: 2, steps: [ask("inner")] },
                },
              ],
            },
            { id: "right", steps: [transform("quick", 1), delay("nap", 300)] },
          ],
        },
      },
    ];
    const runId = runIdOf(await postRun(system, await createActive(system, { steps }), {}));
    for (const path of ["par.left.loop[0].inner", "par.left.loop[1].inner"]) {
      const waiting = await waitFor(async () => {
        const all = await list(`/runs/${runId}/approvals`);
        return all.find((each) => each.path === path && each.status === "waiting") ?? null;
      });
      const address = `/runs/${runId}/approvals/${waiting.id}`;
      const body = { decision: "approved" };
      expect((await system.call("POST", address, { body })).status).toBe(200);
    }
    expect((await waitForRun(system, runId)).status).toBe("completed");
  });
});
