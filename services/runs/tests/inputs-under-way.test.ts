import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import {
  forEach,
  httpStep,
  outputOf,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/* Inputs that are sent are in memory until they are answered, and a worker bounds their bytes (D57). */

const TEXT = "x".repeat(1_000_000);
/** As many of these texts as 16 MiB hold. */
const AT_ONCE = 16;
const ITEMS = 24;

let answer: DoubleHandler = () => ({});
let receiver: HttpDouble;
let harness: RunsHarness;

beforeAll(async () => {
  receiver = await startHttpDouble((...given) => answer(...given));
  harness = await startRunsHarness();
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

describe("requests with large bodies to a host that does not answer", () => {
  it("wait for each other within the company, and hold up neither small ones nor other companies", async () => {
    const gate = Promise.withResolvers<void>();
    const asked: string[] = [];
    answer = async ({ path }) => {
      asked.push(path);
      if (path === "/hang") await gate.promise;
      return { body: "done" };
    };
    const post = (path: string, body: string) =>
      httpStep("send", `${receiver.url}${path}`, { body });
    const items = Array.from({ length: ITEMS }, (_, index) => index);
    const send = forEach("all", items, [post("/hang", "{{input.text}}")], { concurrency: ITEMS });
    const hanging = await harness.deploy([send]);
    const runId = await harness.start(hanging, { text: TEXT });
    const hung = (): number => asked.filter((path) => path === "/hang").length;
    await waitFor(() => hung() === AT_ONCE);

    const small = await harness.runToEnd(await harness.deploy([post("/small", "little")]));
    expect(small.status).toBe(RunStatus.COMPLETED);
    const identity = testIdentity();
    const workflowId = await harness.deploy([post("/other", "{{input.text}}")], { identity });
    const started = await harness.runs.startRun(startRequest(workflowId, { text: TEXT }), {
      identity,
    });
    await waitFor(() => asked.includes("/other"));
    expect(started.run).toBeDefined();
    expect(hung()).toBe(AT_ONCE);

    gate.resolve();
    const ended = await harness.waitForEnd(runId);
    expect(ended.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(ended)).toHaveLength(ITEMS);
    expect(hung()).toBe(ITEMS);
  });

  it("are given up where they wait when the run is cancelled, and leave no place taken", async () => {
    let asked = 0;
    answer = async ({ path }, response) => {
      asked += 1;
      if (path === "/hang") await once(response, "close");
      return { body: "done" };
    };
    const items = Array.from({ length: ITEMS }, (_, index) => index);
    const post = (path: string) =>
      forEach("all", items, [httpStep("send", receiver.url + path, { body: "{{input.text}}" })], {
        concurrency: ITEMS,
      });
    const runId = await harness.start(await harness.deploy([post("/hang")]), { text: TEXT });
    await waitFor(() => asked === AT_ONCE);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.CANCELLED);
    const after = await harness.runToEnd(await harness.deploy([post("/free")]), { text: TEXT });
    expect(after.status).toBe(RunStatus.COMPLETED);
    expect(asked).toBe(AT_ONCE + ITEMS);
  });
});
