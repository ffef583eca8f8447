import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import {
  createActive,
  delay,
  failing,
  getRun,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});

const approval = { id: "ok", type: "approval", name: "Ok", config: { message: "Ship it?" } };
const RED = "\u001b[31m";
const GREEN = "\u001b[32m";

/** A run that waits for a person after its first step. */
async function waitingRun(): Promise<string> {
  const id = await createActive(system, {
    name: "Waiting",
    steps: [transform("first", { a: 1 }), approval, transform("last", { b: 2 })],
  });
  const runId = await startRun(system, id);
  await waitForRun(system, runId, ["waiting_approval"]);
  return runId;
}

describe("a run", () => {
  test("is followed live in a terminal, a coloured step a line, until it is approved and ends", async () => {
    const runId = await waitingRun();
    const tail = cli.terminal(["runs", "tail", runId]);
    await tail.shows(/✓.* first/);
    await tail.shows("waiting_approval");
    expect(tail.screen()).not.toContain("last");
    const approved = await cli.run(["runs", "approve", runId, "--comment", "Fine"]);
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("approved") });
    expect(await tail.ended).toBe(0);
    expect(tail.screen()).toContain(`${GREEN}completed`);
    const text = stripVTControlCharacters(tail.screen());
    expect(text).toMatch(/✓ first {2}transform {2}\d+ ms/);
    expect(text).toMatch(/✓ last {2}transform {2}\d+ ms/);
  });

  test("that fails makes its follower fail, and is told in red on a terminal only", async () => {
    const id = await createActive(system, { name: "Failing", steps: [failing("broken")] });
    const run = cli.terminal(["workflows", "run", id, "--tail"]);
    expect(await run.ended).toBe(1);
    expect(run.screen()).toContain(`${RED}✗`);
    const plain = cli.terminal(["workflows", "run", id, "--tail"], { NO_COLOR: "1" });
    expect(await plain.ended).toBe(1);
    expect(plain.screen()).toContain("✗ broken");
    const piped = await cli.run(["workflows", "run", id, "--tail"]);
    expect(piped).toMatchObject({ code: 1, stdout: expect.stringContaining("✗ broken") });
    expect(piped.stdout + piped.stderr).not.toContain("\u001b");
  });

  test("goes on when its follower is interrupted", async () => {
    const runId = await waitingRun();
    const tail = cli.terminal(["runs", "tail", runId]);
    await tail.shows("waiting_approval");
    tail.type("\u0003");
    expect(await tail.ended).toBe(130);
    expect(tail.screen()).toContain("Interrupted.");
    expect(await getRun(system, runId)).toMatchObject({ status: "waiting_approval" });
    const rejected = await cli.run(["runs", "approve", runId, "--reject"]);
    expect(rejected).toMatchObject({ code: 0, stdout: expect.stringContaining("rejected") });
    await waitForRun(system, runId, ["failed"]);
    expect(await cli.run(["runs", "approve", runId])).toMatchObject({ code: 6 });
  });

  test("is followed as JSON, an event a line", async () => {
    const id = await createActive(system, { steps: [transform("one", { a: 1 })] });
    const { id: runId } = await runToEnd(system, id);
    const tail = await cli.run(["runs", "tail", runId, "--json"]);
    const events = tail.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: "run", data: { status: "completed" } });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "step", data: expect.objectContaining({ stepId: "one" }) }),
    );
  });

  test("is shown with its steps, retried and restarted", async () => {
    const id = await createActive(system, { steps: [transform("a", { n: 1 }), failing("b")] });
    const { id: runId } = await runToEnd(system, id);
    const logs = await cli.run(["logs", runId]);
    expect(logs.stdout).toMatch(/^success {2}a {2}transform/m);
    expect(logs.stdout).toMatch(/^error {2}b {2}/m);
    expect((await cli.run(["logs", runId, "--failed"])).stdout).not.toMatch(/^success/m);
    const step = await cli.json(z.object({ stepId: z.string() }), ["logs", runId, "--step", "a"]);
    expect(step).toEqual({ stepId: "a" });
    expect((await cli.run(["runs", "get", runId])).stdout).toMatch(/status: +failed/);
    const repeated = z.object({ newRunId: z.string(), restartFromStepId: z.string() });
    const retried = await cli.json(repeated, ["runs", "retry", runId]);
    expect(retried.restartFromStepId).toBe("b");
    const restarted = await cli.json(repeated, ["runs", "restart", runId, "--from", "a"]);
    expect(restarted.restartFromStepId).toBe("a");
    for (const { newRunId } of [retried, restarted]) await waitForRun(system, newRunId, ["failed"]);
    expect(await cli.run(["runs", "restart", runId, "--from", "z"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("INVALID_STEP"),
    });
  });

  test("is cancelled once", async () => {
    const id = await createActive(system, { steps: [delay("long", 600_000)] });
    const runId = await startRun(system, id);
    expect(await cli.run(["runs", "cancel", runId])).toMatchObject({
      code: 0,
      stdout: `run ${runId} is cancelled\n`,
    });
    expect(await cli.run(["runs", "cancel", runId])).toMatchObject({ code: 6 });
    expect(await cli.run(["runs", "get", "run_nothing"])).toMatchObject({ code: 5 });
  });
});

describe("a list of runs", () => {
  test("goes over pages, is filtered, and says when there is more", async () => {
    const id = await createActive(system, { steps: [transform("one", { a: 1 })] });
    const started: string[] = [];
    for (let count = 0; count < 4; count += 1) started.push(await startRun(system, id));
    const ids = z.array(z.object({ id: z.string() }));
    const all = await cli.json(ids, ["runs", "list", "--workflow", id, "--all"]);
    expect(all.map((run) => run.id)).toEqual(started.toReversed());
    const some = await cli.run(["runs", "list", "--workflow", id, "--limit", "3"]);
    expect(some.stdout.trim().split("\n")).toHaveLength(4);
    expect(some.stderr).toContain("--all");
    const whole = await cli.run(["runs", "list", "--workflow", id, "--limit", "4"]);
    expect(whole.stderr).toBe("");
    const none = await cli.run(["runs", "list", "--workflow", id, "--after", "2099-01-01"]);
    expect(none).toMatchObject({ code: 0, stdout: "", stderr: "There are none.\n" });
  });

  test("ends quietly when its reader has seen enough", async () => {
    const id = await createActive(system, { steps: [transform("one", { a: 1 })] });
    for (let count = 0; count < 3; count += 1) await startRun(system, id);
    const head = await cli.shell("set -o pipefail; workflowctl runs list --all | head -1");
    expect(head).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^ID /) });
    const closed = await cli.shell(
      "workflowctl runs list --all --json | true; echo ${PIPESTATUS[0]}",
    );
    expect(closed).toMatchObject({ stdout: "0\n", stderr: "" });
  });

  test.each([
    [["runs", "list", "--limit", "none"], "whole number"],
    [["runs", "list", "--after", "sometime"], "timestamp"],
    [["runs", "list", "--status", "odd"], "choices"],
    [["runs", "tial", "x"], "Did you mean tail"],
    [["runs", "get", ".."], "must be an id"],
    [["runs", "cancel", "run_1", ""], "must be an id"],
    [["runs", "tail"], "missing required argument"],
    [["runs", "list", "--nonsense"], "unknown option"],
  ])("is refused with %j, with exit code 2", async (args, message) => {
    const refused = await cli.run(args);
    expect(refused).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  });
});
