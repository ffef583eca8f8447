import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { waitFor } from "@workflow/testkit";
import { newIdentity, startHarness, validWorkflow } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

let harness: Harness;
const children: ChildProcess[] = [];
beforeAll(async () => {
  harness = await startHarness();
  await harness.stopService();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(() => harness.close());

/** The service as a process of its own, ready for calls. */
async function startProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...harness.environment },
    stdio: "ignore",
  });
  children.push(child);
  await waitFor(() => harness.client.isServing(500), { what: "the process", timeoutMs: 60_000 });
  return child;
}

describe("the service as a process", () => {
  it("takes its settings from the environment and ends with code 0 on SIGTERM", async () => {
    const child = await startProcess();
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    expect(await harness.client.getWorkflow({ workflowId: id }, { identity })).toMatchObject({
      id,
    });
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  it("killed between commit and push, leaves the hand-over to the next one", async () => {
    const child = await startProcess();
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    // The push has arrived but takes no effect: the activation is committed and not handed over.
    harness.runs.gate = () => once(child, "exit").then(() => Promise.reject(new Error("lost")));
    const activation = harness.client.activateWorkflow({ workflowId: id }, { identity });
    const outcome = activation.then(
      () => "answered",
      () => "broken off",
    );
    await waitFor(() => harness.runs.requestsFor(id).length > 0, { what: "the push" });
    child.kill("SIGKILL");
    expect(await outcome).toBe("broken off");
    expect(harness.runs.deployed.has(id)).toBe(false);

    harness.runs.gate = async () => {};
    await startProcess();
    await waitFor(() => harness.runs.deployed.get(id)?.status === DeploymentStatus.ACTIVE, {
      what: "the hand-over by the next process",
    });
  });
});
