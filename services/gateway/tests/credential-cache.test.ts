import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { createCredentialCache } from "../src/auth/credential-cache.ts";

interface Found {
  name: string;
}

const hashOf = (index: number): Buffer => Buffer.from(String(index).padStart(32, "0"));

/** A cache in front of a look-up that says what it was asked. */
function startCache(answer: (name: string) => Promise<Found | null>) {
  const asked: string[] = [];
  const cache = createCredentialCache(async (hashes) => {
    const answers = hashes.map((hash) => {
      const name = String(Number(hash.toString()));
      asked.push(name);
      return answer(name);
    });
    const found = new Map<string, Found>();
    for (const [place, hash] of hashes.entries()) {
      const known = await answers[place];
      if (known !== null && known !== undefined) found.set(hash.toString("base64"), known);
    }
    return found;
  });
  return { cache, asked };
}

/** Stops the clock: a slow machine must not let what is remembered grow old. */
function stopClock(): void {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "queueMicrotask", "nextTick"] });
}

const always = async (name: string): Promise<Found> => ({ name });

describe("the cache of credentials", () => {
  afterEach(() => void jest.useRealTimers());

  it("asks once for requests that come at the same time, and not again right after", async () => {
    stopClock();
    const { cache, asked } = startCache(always);
    const found = await Promise.all(Array.from({ length: 100 }, () => cache.find(hashOf(1))));
    expect(new Set(found).size).toBe(1);
    expect(await cache.find(hashOf(1))).toBe(found[0]);
    expect(asked).toEqual(["1"]);
  });

  it("remembers at most 20,000: of more in turn the oldest are asked for again", async () => {
    stopClock();
    const { cache, asked } = startCache(always);
    await Promise.all(Array.from({ length: 10_500 }, (_, index) => cache.find(hashOf(index))));
    await Promise.all(Array.from({ length: 10_500 }, (_, i) => cache.find(hashOf(10_500 + i))));
    const before = asked.length;
    await cache.find(hashOf(20_999));
    await cache.find(hashOf(0));
    expect(asked.slice(before)).toEqual(["0"]);
  });

  it("does not let unknown ones push out known ones", async () => {
    stopClock();
    const { cache, asked } = startCache(async (name) => (name === "0" ? { name } : null));
    await cache.find(hashOf(0));
    for (const start of [1, 10_501, 20_001]) {
      await Promise.all(Array.from({ length: 10_000 }, (_, i) => cache.find(hashOf(start + i))));
    }
    await cache.find(hashOf(0));
    expect(asked.filter((name) => name === "0")).toHaveLength(1);
  });

  it("asks for different ones at the same time with one question", async () => {
    const questions: number[] = [];
    const cache = createCredentialCache<Found>(async (hashes) => {
      questions.push(hashes.length);
      return new Map();
    });
    await Promise.all(Array.from({ length: 700 }, (_, index) => cache.find(hashOf(index))));
    expect(questions).toEqual([500, 200]);
  });

  it("asks for one in steady use again before anybody has to wait, and believes the answer", async () => {
    stopClock();
    const answers: (Found | null)[] = [{ name: "old" }, null];
    const { cache, asked } = startCache(async () => answers.shift() ?? null);
    expect(await cache.find(hashOf(1))).toEqual({ name: "old" });
    jest.advanceTimersByTime(2_000);
    expect(await cache.find(hashOf(1))).toEqual({ name: "old" });
    jest.advanceTimersByTime(250);
    jest.useRealTimers();
    await waitFor(() => asked.length === 2);
    await waitFor(async () => (await cache.find(hashOf(1))) === null);
    expect(asked).toEqual(["1", "1"]);
  });

  it("answers with nothing that was asked for 4 s ago: a revocation counts within 5 s (D12)", async () => {
    stopClock();
    const answers: (Found | null)[] = [{ name: "old" }, null];
    const { cache, asked } = startCache(async () => answers.shift() ?? null);
    expect(await cache.find(hashOf(1))).toEqual({ name: "old" });
    jest.advanceTimersByTime(4_000);
    expect(await cache.find(hashOf(1))).toBeNull();
    expect(asked).toEqual(["1", "1"]);
  });

  it("forgets whom a change is about, and nobody else", async () => {
    const { cache, asked } = startCache(always);
    await Promise.all([cache.find(hashOf(1)), cache.find(hashOf(2))]);
    cache.invalidate(({ name }) => name === "1");
    await Promise.all([cache.find(hashOf(1)), cache.find(hashOf(2))]);
    expect(asked).toEqual(["1", "2", "1"]);
  });

  it("does not remember an answer that a change has overtaken", async () => {
    const first = Promise.withResolvers<Found>();
    const answers = [first.promise, Promise.resolve(null)];
    const { cache, asked } = startCache(() => answers.shift() ?? Promise.resolve(null));
    const overtaken = cache.find(hashOf(1));
    await waitFor(() => asked.length === 1);
    cache.invalidate(() => true);
    expect(await cache.find(hashOf(1))).toBeNull();
    first.resolve({ name: "1" });
    await overtaken;
    expect(await cache.find(hashOf(1))).toBeNull();
    expect(asked).toEqual(["1", "1"]);
  });

  it("asks again after a failure", async () => {
    const answers = [Promise.reject(new Error("away")), Promise.resolve({ name: "1" })];
    const { cache } = startCache(() => answers.shift() ?? Promise.resolve(null));
    const failed = await Promise.allSettled([cache.find(hashOf(1)), cache.find(hashOf(1))]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await cache.find(hashOf(1))).toEqual({ name: "1" });
  });
});
