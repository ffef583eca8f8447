import { describe, expect, it } from "@jest/globals";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Slices } from "../src/index.ts";

function holdLoop(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

describe("slices of the event loop", () => {
  it("make nobody wait while the loop is free", () => {
    const slices = new Slices();
    const done: number[] = [];
    for (const piece of [1, 2, 3]) void slices.do(() => done.push(piece));
    expect(done).toEqual([1, 2, 3]);
  });

  it("let the loop turn between pieces that became ready together", async () => {
    const slices = new Slices();
    const done: number[] = [];
    const pieces = Array.from({ length: 12 }, (_, piece) =>
      slices.do(() => {
        holdLoop(10);
        done.push(piece);
      }),
    );
    const seen: number[] = [];
    while (done.length < 12) {
      seen.push(done.length);
      await nextTurn();
    }
    await Promise.all(pieces);
    expect(done).toEqual(Array.from({ length: 12 }, (_, piece) => piece));
    expect(seen).toEqual(Array.from({ length: 11 }, (_, piece) => piece + 1));
  });

  it("hand on what the work throws, and go on with the others", async () => {
    const slices = new Slices();
    const pieces = [1, 2, 3].map((piece) =>
      slices.do(() => {
        holdLoop(10);
        if (piece === 2) throw new Error("the second");
        return piece;
      }),
    );
    await expect(Promise.allSettled(pieces)).resolves.toMatchObject([
      { value: 1 },
      { reason: { message: "the second" } },
      { value: 3 },
    ]);
  });

  it("forget nobody who asks while others wait", async () => {
    const slices = new Slices();
    let done = 0;
    const piece = async (depth: number): Promise<void> => {
      await slices.do(() => holdLoop(3));
      done += 1;
      if (depth > 0) await Promise.all([piece(depth - 1), piece(depth - 1)]);
    };
    await piece(5);
    expect(done).toBe(63);
  });
});
