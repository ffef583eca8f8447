import { describe, expect, it } from "@jest/globals";
import { createTurnstile } from "../src/turnstile.ts";

function tooLong(): Error {
  return new Error("too long");
}

describe("the line for connections", () => {
  it("lets in as many as there are places, the others in the order in which they came", async () => {
    const turnstile = createTurnstile(1, 10_000, tooLong);
    const order: number[] = [];
    await turnstile.enter();
    const others = [1, 2, 3].map(async (number) => {
      await turnstile.enter();
      order.push(number);
      turnstile.leave();
    });
    expect(turnstile.waiting()).toBe(3);
    turnstile.leave();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    await turnstile.enter();
  });

  it("sends away who has waited too long, without losing a place", async () => {
    const turnstile = createTurnstile(1, 1, tooLong);
    await turnstile.enter();
    await expect(turnstile.enter()).rejects.toThrow("too long");
    expect(turnstile.waiting()).toBe(0);
    turnstile.leave();
    await turnstile.enter();
  });

  it("sends everybody in line away at once", async () => {
    const turnstile = createTurnstile(1, 10_000, tooLong);
    await turnstile.enter();
    const others = Promise.allSettled([turnstile.enter(), turnstile.enter()]);
    const reason = new Error("no database");
    turnstile.dismiss(reason);
    await expect(others).resolves.toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    expect(turnstile.waiting()).toBe(0);
  });
});
