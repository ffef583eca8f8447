import { describe, expect, it } from "@jest/globals";
import { startTimer, TIMER_MS_MAX } from "../src/index.ts";

/** Resolves when timers that were set before have ended, if they are shorter. */
function afterTimers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a timer", () => {
  it("runs its action once, when its clock says that no time is left", async () => {
    const left = [5, 3, 1, 0];
    let runs = 0;
    const ended = new Promise<void>((resolve) => {
      startTimer(
        () => left.shift() ?? 0,
        () => {
          runs += 1;
          resolve();
        },
      );
    });

    await ended;
    await afterTimers();

    expect(left).toEqual([]);
    expect(runs).toBe(1);
  });

  it("runs an action that is overdue, but not before its starter goes on", async () => {
    const order: string[] = [];
    const ended = new Promise<void>((resolve) => {
      startTimer(
        () => -1_000,
        () => {
          order.push("action");
          resolve();
        },
      );
    });
    order.push("starter");

    await ended;
    expect(order).toEqual(["starter", "action"]);
  });

  it.each([TIMER_MS_MAX + 1, TIMER_MS_MAX * 100, Infinity])(
    "waits for %d ms, which a timer of Node would take for none",
    async (ms) => {
      let runs = 0;
      const callOff = startTimer(
        () => ms,
        () => void (runs += 1),
      );

      await afterTimers();

      expect(runs).toBe(0);
      callOff();
    },
  );

  it("is called off", async () => {
    let runs = 0;
    const callOff = startTimer(
      () => 0,
      () => void (runs += 1),
    );

    callOff();
    await afterTimers();

    expect(runs).toBe(0);
  });
});
