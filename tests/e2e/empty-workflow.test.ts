import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createActive, postRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

it("a workflow without steps can be stored, activated and run; its output is null", async () => {
  const workflowId = await createActive(system, { steps: [] });
  const answer = await postRun(system, workflowId, { mode: "sync" });
  expect(answer.status).toBe(200);
  expect(answer.data).toMatchObject({ status: "completed", output: null });
});
