import { describe, expect, it } from "@jest/globals";
import { Bell } from "../src/index.ts";

/** Longer than the tests may take: a wait that nothing ends fails. */
const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

describe("a bell", () => {
  it("wakes who sleeps", async () => {
    const bell = new Bell();
    const woken = bell.wait(HOUR_MS, never);

    bell.ring();

    await woken;
  });

  it("remembers one ring while nobody sleeps", async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    await bell.wait(HOUR_MS, never);

    const order: string[] = [];
    const second = bell.wait(HOUR_MS, never).then(() => order.push("woken"));
    await new Promise(setImmediate);
    order.push("ring");
    bell.ring();

    await second;
    expect(order).toEqual(["ring", "woken"]);
  });

  it("forgets a ring when silenced", async () => {
    const bell = new Bell();
    const order: string[] = [];
    bell.ring();
    bell.silence();
    const woken = bell.wait(HOUR_MS, never).then(() => order.push("woken"));
    await new Promise(setImmediate);
    order.push("ring");
    bell.ring();

    await woken;
    expect(order).toEqual(["ring", "woken"]);
  });

  it("lets sleepers go after their time, and when their signal is aborted", async () => {
    const bell = new Bell();
    const giveUp = new AbortController();
    await bell.wait(1, never);
    const given = bell.wait(HOUR_MS, giveUp.signal);

    giveUp.abort();

    await given;
    await bell.wait(HOUR_MS, giveUp.signal);
  });

  it("sleeps on for a time that is longer than a timer of Node holds", async () => {
    const bell = new Bell();
    const order: string[] = [];
    const woken = bell.wait(Infinity, never).then(() => order.push("woken"));
    // A timer of Node that is set too long ends within a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push("ring");
    bell.ring();

    await woken;
    expect(order).toEqual(["ring", "woken"]);
  });
});
