import { describe, expect, it } from "@jest/globals";
import { TestPlaces } from "../src/endpoints/test-places.ts";

const { signal } = new AbortController();

describe("the places of tests of endpoints", () => {
  it("are four that run and twenty that wait, of one company; one more is refused without a wait", async () => {
    const places = new TestPlaces();
    const end = Promise.withResolvers<void>();
    let begun = 0;
    let settled = 0;
    const test = (): Promise<void> => {
      begun += 1;
      return end.promise;
    };
    const taken = Array.from({ length: 24 }, () =>
      places.within("one", signal, test).finally(() => (settled += 1)),
    );
    // No timer can run out before this one is refused.
    await expect(places.within("one", signal, test)).rejects.toMatchObject({
      reason: "RATE_LIMITED",
      details: { limit: "tests" },
    });
    expect({ begun, settled }).toEqual({ begun: 4, settled: 0 });
    await places.within("another", signal, async () => {});
    end.resolve();
    await Promise.all(taken);
    expect(begun).toBe(24);
  });
});
