import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { ProviderCall, ProviderClient } from "../src/interpreter/effects/provider-client.ts";
import { resultsOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let calls: ProviderCall[];
let harness: RunsHarness;

/** A provider that never answers. */
const providers: ProviderClient = {
  execute(_, call, signal) {
    calls.push(call);
    return new Promise((_resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  },
  authorize: () => Promise.reject(new Error("no request is made here")),
  report: () => Promise.reject(new Error("no request is made here")),
  close: () => undefined,
};

function stepOf(action: string, config: Record<string, unknown>) {
  return {
    id: "call",
    type: "action",
    name: "call",
    action,
    config,
    timeoutMs: 2_000,
    retry: { maxAttempts: 2, backoff: "fixed", delayMs: 20, maxDelayMs: 20, jitter: false },
  };
}

beforeAll(async () => {
  harness = await startRunsHarness({ providers });
});
beforeEach(() => {
  calls = [];
});
afterAll(() => harness.close());

describe("a provider's action that is not answered within the step's time", () => {
  it("is not called again where that could do it twice", async () => {
    const step = stepOf("slack.sendMessage", { channel: "C1", text: "Hello" });
    const run = await harness.runToEnd(await harness.deploy([step]));
    expect(resultsOf(run)[0]).toMatchObject({
      status: "error",
      attempt: 1,
      error: "TIMEOUT",
    });
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toMatchObject({
      provider: "slack",
      outcomeUnknown: true,
    });
    expect(calls).toHaveLength(1);
  });

  it("is called again where a key makes both calls one", async () => {
    const step = stepOf("stripe.createCustomer", { email: "ada@example.com" });
    const run = await harness.runToEnd(await harness.deploy([step]));
    expect(resultsOf(run)[0]).toMatchObject({ attempt: 2, error: "TIMEOUT" });
    expect(calls).toHaveLength(2);
    expect(calls[1]?.key).toBe(calls[0]?.key);
  });
});
