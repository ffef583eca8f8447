import { describe, expect, it } from "@jest/globals";
import type { Steps } from "../src/engine/index.ts";
import { Slices } from "../src/memory/slices.ts";

const always = (): boolean => true;
const owner = (companyId: string, signal?: AbortSignal) => ({ companyId, isFrozen: false, signal });

/** Takes one slice for each number, and then for ever when there is no end. */
function* sliced(slices: number, onSlice: () => void): Steps<string> {
  for (let slice = 0; slice < slices; slice += 1) {
    onSlice();
    const endsAt = performance.now() + 9;
    while (performance.now() < endsAt);
    yield;
  }
  return "done";
}

describe("work in slices", () => {
  it("ends at the next slice when nobody wants it any more", async () => {
    const leaving = new AbortController();
    const gone = new Error("gone");
    let slices = 0;
    const steps = sliced(Infinity, () => {
      slices += 1;
      if (slices === 3) leaving.abort(gone);
    });
    const work = new Slices().run(owner("a", leaving.signal), steps, always);
    await expect(work).rejects.toBe(gone);
    expect(slices).toBe(3);
  });

  it("is not begun for whoever has gone by then, and lets others go on", async () => {
    const all = new Slices();
    const leaving = new AbortController();
    let begun = 0;
    const gone = Array.from({ length: 1_000 }, () =>
      all.run(
        owner("a", leaving.signal),
        sliced(1, () => (begun += 1)),
        always,
      ),
    );
    const ended = Promise.allSettled(gone);
    const next = all.run(
      owner("a"),
      sliced(1, () => {}),
      always,
    );
    leaving.abort(new Error("gone"));
    expect(await next).toEqual({ answer: "done" });
    const statuses = (await ended).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["rejected"]));
    expect(begun).toBe(0);
  });

  it("of one company waits for one slice of another, however much that has to do", async () => {
    const all = new Slices();
    const order: string[] = [];
    const many = Array.from({ length: 50 }, () =>
      all.run(
        owner("many"),
        sliced(2, () => order.push("many")),
        always,
      ),
    );
    await all.run(
      owner("few"),
      sliced(3, () => order.push("few")),
      always,
    );
    const seen = order.join(" ");
    expect(seen).not.toContain("many many many");
    expect(order.filter((each) => each === "few")).toHaveLength(3);
    await Promise.all(many);
  });

  it("in a transaction does not wait behind other questions of its company", async () => {
    const all = new Slices();
    const order: string[] = [];
    const many = Array.from({ length: 50 }, () =>
      all.run(
        owner("one"),
        sliced(2, () => order.push("free")),
        always,
      ),
    );
    await all.run(
      { companyId: "one", isFrozen: true },
      sliced(3, () => order.push("frozen")),
      always,
    );
    expect(order.length).toBeLessThan(10);
    await Promise.all(many);
  });

  it("comes to nothing when it is of no use any more", async () => {
    let isOfUse = true;
    const steps = sliced(Infinity, () => (isOfUse = false));
    expect(await new Slices().run(owner("a"), steps, () => isOfUse)).toBeNull();
  });
});
