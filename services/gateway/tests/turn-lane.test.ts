import { describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { createTurnLane } from "../src/auth/turn-lane.ts";

const refusal = (isOwn: boolean): AppError =>
  new AppError(isOwn ? "RATE_LIMITED" : "UNAVAILABLE", "no room");

/** A lane whose work says when it is done. */
function startLane(room: { waitingMax: number; waitingEachMax: number }) {
  const lane = createTurnLane({ ...room, refusal });
  const done: string[] = [];
  let underWay = 0;
  const run = (payer: string, name: string): Promise<void> =>
    lane.run(payer, async () => {
      underWay += 1;
      expect(underWay).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      done.push(name);
    });
  return { run, done, lane };
}

describe("a lane", () => {
  it("does one thing at a time, and payers take turns however much each brings", async () => {
    const { run, done } = startLane({ waitingMax: 50, waitingEachMax: 25 });
    const work = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"];
    await Promise.all(work.map((name) => run(name.slice(0, 1), name)));
    expect(done).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("has room for others when one payer's share is full", async () => {
    const { run, done } = startLane({ waitingMax: 5, waitingEachMax: 2 });
    const mine = Array.from({ length: 6 }, (_, index) => run("a", `a${index}`));
    const others = ["b", "c", "d", "e", "f"].map((payer) => run(payer, payer));
    const outcomes = await Promise.allSettled([...mine, ...others]);
    const reasons = outcomes.map((outcome) =>
      outcome.status === "fulfilled" ? "done" : reasonOf(outcome.reason),
    );
    const own = Array(2).fill("done").concat(Array(4).fill("RATE_LIMITED"));
    expect(reasons).toEqual([...own, "done", "done", "done", "done", "UNAVAILABLE"]);
    expect(done).toEqual(["a0", "a1", "b", "c", "d", "e"]);
  });

  it("has room for a newcomer when a few fill it: who has the most gives way, the latest first", async () => {
    const { run, done } = startLane({ waitingMax: 6, waitingEachMax: 4 });
    const work = ["x", "a1", "a2", "a3", "a4", "b1", "b2", "c1", "c2", "d1", "e1"];
    const outcomes = await Promise.allSettled(work.map((name) => run(name.slice(0, 1), name)));
    const refused = work.filter((_, index) => outcomes[index]?.status === "rejected");
    expect(refused).toEqual(["a3", "a4", "b2", "c2"]);
    expect(done).toEqual(["x", "a1", "b1", "c1", "d1", "e1", "a2"]);
    const own = outcomes[4];
    expect(own?.status === "rejected" && reasonOf(own.reason)).toBe("RATE_LIMITED");
    await run("a", "afterwards");
    expect(done.at(-1)).toBe("afterwards");
  });

  it("goes on after work that failed", async () => {
    const { run, done, lane } = startLane({ waitingMax: 5, waitingEachMax: 5 });
    const failed = lane.run("a", () => Promise.reject(new Error("broken")));
    const next = run("b", "b");
    await expect(failed).rejects.toThrow("broken");
    await next;
    await run("a", "a");
    expect(done).toEqual(["b", "a"]);
  });
});

function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.reason : String(error);
}
