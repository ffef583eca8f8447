import { describe, expect, it } from "@jest/globals";
import { Semaphore } from "../src/index.ts";

const soon = { timeoutMs: 1, timeoutError: () => new Error("too long") };

describe("a semaphore", () => {
  it("has so many slots, and gives them in the order of asking", async () => {
    const slots = new Semaphore(1);
    const order: number[] = [];
    const release = await slots.acquire();
    const others = [1, 2, 3].map(async (number) => {
      const releaseOther = await slots.acquire();
      order.push(number);
      releaseOther();
    });
    expect(slots.waiting).toBe(3);

    release();

    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    expect(slots.waiting).toBe(0);
  });

  it("sends away who has waited too long, without losing a slot", async () => {
    const slots = new Semaphore(1);
    const release = await slots.acquire();

    await expect(slots.acquire(soon)).rejects.toThrow("too long");

    expect(slots.waiting).toBe(0);
    release();
    await slots.acquire(soon);
  });

  it("sends everybody in line away at once", async () => {
    const slots = new Semaphore(1);
    await slots.acquire();
    const others = Promise.allSettled([slots.acquire(), slots.acquire()]);
    const reason = new Error("no database");

    slots.rejectWaiting(reason);

    await expect(others).resolves.toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    expect(slots.waiting).toBe(0);
  });

  it("is idle when the last slot is released, not when it is handed on", async () => {
    const slots = new Semaphore(1);
    const order: string[] = [];
    await slots.whenIdle();
    const release = await slots.acquire();
    const idle = slots.whenIdle().then(() => order.push("idle"));
    const next = slots.acquire();

    release();
    const releaseNext = await next;
    order.push("handed on");
    releaseNext();

    await idle;
    expect(order).toEqual(["handed on", "idle"]);
  });
});
