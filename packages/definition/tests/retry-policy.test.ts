import { describe, expect, it } from "@jest/globals";
import { retryDelayMs, retryPolicySchema } from "../src/index.ts";

const policy = (over: object) =>
  retryPolicySchema.parse({ maxAttempts: 5, jitter: false, ...over });
const never = () => {
  throw new Error("A policy without jitter asks for no random number.");
};

describe("retryDelayMs", () => {
  it("stays the same with fixed backoff", () => {
    const fixed = policy({ backoff: "fixed", delayMs: 200 });
    expect([1, 2, 3].map((attempt) => retryDelayMs(fixed, attempt, never))).toEqual([
      200, 200, 200,
    ]);
  });

  it("doubles with exponential backoff, up to maxDelayMs", () => {
    const doubling = policy({ delayMs: 100, maxDelayMs: 500 });
    expect([1, 2, 3, 4, 2_000].map((attempt) => retryDelayMs(doubling, attempt, never))).toEqual([
      100, 200, 400, 500, 500,
    ]);
  });

  it("is capped at a minute by default, but never below delayMs", () => {
    expect(retryDelayMs(policy({ delayMs: 1000 }), 10, never)).toBe(60_000);
    expect(retryDelayMs(policy({ delayMs: 90_000 }), 3, never)).toBe(90_000);
  });

  it("jitter takes off up to a half", () => {
    const jittered = policy({ delayMs: 1000, backoff: "fixed", jitter: true });
    expect(retryDelayMs(jittered, 1, () => 0)).toBe(1000);
    expect(retryDelayMs(jittered, 1, () => 0.5)).toBe(750);
    expect(retryDelayMs(jittered, 1, () => 0.999999)).toBe(500);
  });

  it("no delay is no delay", () => {
    expect(retryDelayMs(policy({ delayMs: 0 }), 4, never)).toBe(0);
  });
});
