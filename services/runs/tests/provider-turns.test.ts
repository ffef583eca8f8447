import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { StepError } from "../src/domain/step-error.ts";
import type { ProviderCall, ProviderClient } from "../src/interpreter/effects/provider-client.ts";
import { outputOf, resultsOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

type Outcome = Awaited<ReturnType<ProviderClient["execute"]>>;

/** The integrations service's answers to one call after the other. */
let answers: (() => Outcome)[];
let calls: ProviderCall[];

const providers: ProviderClient = {
  execute(_, call) {
    calls.push(call);
    const answer = answers.shift();
    return answer === undefined ? Promise.reject(new Error("one call too many")) : later(answer);
  },
  authorize: () => Promise.reject(new Error("no request is made here")),
  report: () => Promise.reject(new Error("no request is made here")),
  close: () => undefined,
};

/** In a promise, what it throws included. */
async function later(answer: () => Outcome): Promise<Outcome> {
  return answer();
}

const paused = (): Outcome => ({ kind: "paused", waitMs: 30 });
const done = (): Outcome => ({ kind: "done", output: '{"id":"c_1"}' });
const failed = (): Outcome => {
  throw new StepError("PROVIDER_ERROR", "Resend: Later");
};

const step = {
  id: "call",
  type: "action",
  name: "call",
  action: "resend.createContact",
  config: { email: "ada@example.com" },
  retry: { maxAttempts: 3, backoff: "fixed", delayMs: 20, maxDelayMs: 20, jitter: false },
};

// A run is parked at each wait, or waits in memory.
describe.each([0, 60_000])("a step of a paused connection (short waits: %s ms)", (shortWaitMs) => {
  let harness: RunsHarness;

  beforeAll(async () => {
    harness = await startRunsHarness({ providers, shortWaitMs });
  });
  beforeEach(() => {
    calls = [];
  });
  afterAll(() => harness.close());

  it("goes on when its turn has come, and takes another turn when it is tried again", async () => {
    answers = [paused, failed, paused, failed, done];
    const run = await harness.runToEnd(await harness.deploy([step]));
    expect(outputOf(run)).toEqual({ id: "c_1" });
    expect(resultsOf(run)[0]).toMatchObject({ attempt: 3 });
    expect(run.stepResults[0]?.inputJson).toBe('{"email":"ada@example.com"}');
    // The end of the wait for another attempt is no turn.
    expect(calls.map(({ hasTurn }) => hasTurn)).toEqual([false, true, false, true, false]);
  });

  it("fails with its input on record where the turn is more than an hour away", async () => {
    answers = [() => ({ kind: "paused", waitMs: 2 * 60 * 60_000 })];
    const run = await harness.runToEnd(await harness.deploy([{ ...step, retry: undefined }]));
    expect(run.stepResults[0]).toMatchObject({
      error: { code: "CONNECTION_PAUSED" },
      inputJson: '{"email":"ada@example.com"}',
    });
  });
});
