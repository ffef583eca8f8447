import { describe, expect, it } from "@jest/globals";
import { createSeats } from "../src/routes/table-imports/import-seats.ts";

/** Whether a seat was given by now. */
async function isGiven(seat: Promise<() => void>): Promise<boolean> {
  let given = false;
  void seat.then(() => (given = true));
  await new Promise(setImmediate);
  return given;
}

describe("the seats of large imports", () => {
  it("are given in the order of asking, to each company so many", async () => {
    const seats = createSeats({ seats: 2, seatsEach: 1 });
    const leaveAcme = await seats.take("acme");
    const second = seats.take("acme");
    const other = seats.take("globex");
    const third = seats.take("initech");
    expect(await isGiven(second)).toBe(false);
    expect(await isGiven(other)).toBe(true);
    expect(await isGiven(third)).toBe(false);
    leaveAcme();
    expect(await isGiven(second)).toBe(true);
    expect(await isGiven(third)).toBe(false);
    (await other)();
    expect(await isGiven(third)).toBe(true);
    (await second)();
    (await third)();
  });

  it("are not held back from a company by another's line", async () => {
    const seats = createSeats({ seats: 2, seatsEach: 1 });
    const leave = await seats.take("acme");
    const waiting = [seats.take("acme"), seats.take("acme")];
    const leaveOther = await seats.take("globex");
    leaveOther();
    expect(await isGiven(seats.take("initech"))).toBe(true);
    leave();
    for (const seat of waiting) (await seat)();
  });

  it("are refused when too many wait", async () => {
    const seats = createSeats({ seats: 1, seatsEach: 1 });
    const leave = await seats.take("acme");
    const waiting = Array.from({ length: 50 }, () => seats.take("acme"));
    await expect(seats.take("acme")).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      retryAfterMs: 10_000,
    });
    leave();
    for (const seat of waiting) (await seat)();
  });

  it("are given to a company with room, however many of another wait", async () => {
    const seats = createSeats({ seats: 2, seatsEach: 1 });
    const leave = await seats.take("acme");
    const waiting = Array.from({ length: 50 }, () => seats.take("acme"));

    const leaveOther = await seats.take("globex");

    leaveOther();
    leave();
    for (const seat of waiting) (await seat)();
  });
});
