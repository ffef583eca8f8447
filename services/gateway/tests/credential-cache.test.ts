import { describe, expect, it } from "@jest/globals";
import { createCredentialCache } from "../src/auth/credential-cache.ts";

interface Found {
  name: string;
}

const hashOf = (index: number): Buffer => Buffer.from(String(index).padStart(32, "0"));

/** A cache in front of a look-up that says what it was asked. */
function startCache(answer: (name: string) => Promise<Found | null>) {
  const asked: string[] = [];
  const cache = createCredentialCache((hash) => {
    const name = String(Number(hash.toString()));
    asked.push(name);
    return answer(name);
  });
  return { cache, asked };
}

const always = async (name: string): Promise<Found> => ({ name });

describe("the cache of credentials", () => {
  it("asks once for requests that come at the same time, and not again right after", async () => {
    const { cache, asked } = startCache(always);
    const found = await Promise.all(Array.from({ length: 100 }, () => cache.find(hashOf(1))));
    expect(new Set(found).size).toBe(1);
    expect(await cache.find(hashOf(1))).toBe(found[0]);
    expect(asked).toEqual(["1"]);
  });

  it("remembers at most 10,000: of more in turn the oldest are asked for again", async () => {
    const { cache, asked } = startCache(always);
    for (let index = 0; index < 10_500; index += 1) await cache.find(hashOf(index));
    const before = asked.length;
    await cache.find(hashOf(10_499));
    await cache.find(hashOf(0));
    expect(asked.slice(before)).toEqual(["0"]);
  });

  it("does not let unknown ones push out known ones", async () => {
    const { cache, asked } = startCache(async (name) => (name === "0" ? { name } : null));
    await cache.find(hashOf(0));
    for (let index = 1; index < 10_500; index += 1) await cache.find(hashOf(index));
    await cache.find(hashOf(0));
    expect(asked.filter((name) => name === "0")).toHaveLength(1);
  });

  it("forgets whom a change is about, and nobody else", async () => {
    const { cache, asked } = startCache(always);
    await Promise.all([cache.find(hashOf(1)), cache.find(hashOf(2))]);
    cache.forget(({ name }) => name === "1");
    await Promise.all([cache.find(hashOf(1)), cache.find(hashOf(2))]);
    expect(asked).toEqual(["1", "2", "1"]);
  });

  it("does not remember an answer that a change has overtaken", async () => {
    const first = Promise.withResolvers<Found>();
    const answers = [first.promise, Promise.resolve(null)];
    const { cache, asked } = startCache(() => answers.shift() ?? Promise.resolve(null));
    const overtaken = cache.find(hashOf(1));
    cache.forget(() => true);
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
