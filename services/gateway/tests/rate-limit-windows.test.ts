import { describe, expect, it, jest } from "@jest/globals";
import { processClock } from "../src/rate-limits/clock.ts";
import { Members } from "../src/rate-limits/members.ts";
import type { Outcome } from "../src/rate-limits/messages.ts";
import { Moments } from "../src/rate-limits/moments.ts";
import { SharedWindows } from "../src/rate-limits/shared-windows.ts";

const MINUTE_MS = 60_000;

/** The windows of one gateway, with a clock that stands still until it is moved. */
function createWindows() {
  const clock = { now: 1_000_000 };
  const windows = new SharedWindows({
    windowMs: MINUTE_MS,
    clock: { ...processClock, now: () => clock.now },
    members: new Members("self"),
    onDecision: () => {},
  });
  const take = (key: string, max: number) => {
    const outcome = windows.claim([[`group|${key}`, max]]);
    if (outcome instanceof Promise) throw new Error("Nobody else is there to be asked.");
    return outcome;
  };
  return { clock, windows, take, isAccepted: (key: string, max: number) => take(key, max)[0] < 0 };
}

/** Who refused, when to come again, and how many the first window has. */
function firstOf(outcome: Outcome | Promise<Outcome>): [number, number, number] {
  if (outcome instanceof Promise) throw new Error("Nobody else is there to be asked.");
  return [outcome[0], outcome[1], outcome[2]];
}

describe("a sliding window", () => {
  it("has room for so many within any minute, and again as soon as the oldest is a minute old", () => {
    const { clock, take, isAccepted } = createWindows();
    const start = clock.now;
    const accepted: number[] = [];
    // One a second for five minutes, whatever is answered.
    for (; clock.now < start + 5 * MINUTE_MS; clock.now += 1_000) {
      if (isAccepted("a", 20)) accepted.push(clock.now);
    }
    for (const [index, at] of accepted.entries()) {
      const next = accepted[index + 20];
      if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(MINUTE_MS);
    }
    expect(accepted).toHaveLength(100);
    clock.now = start + 242_000;
    expect(take("a", 20)).toEqual([0, 300_000 - 242_000, 20, 300_000 - 242_000]);
    expect(isAccepted("b", 20)).toBe(true);
  });

  it("takes the last one at the moment before it is full, and the next when the first has left", () => {
    const { clock, take, isAccepted } = createWindows();
    for (let count = 1; count <= 3; count += 1) {
      expect(take("a", 3)).toEqual([-1, 0, count, MINUTE_MS - (count - 1) * 10]);
      clock.now += 10;
    }
    expect(isAccepted("a", 3)).toBe(false);
    clock.now += MINUTE_MS - 30 - 1;
    expect(take("a", 3)).toEqual([0, 1, 3, 1]);
    clock.now += 1;
    expect(isAccepted("a", 3)).toBe(true);
    expect(isAccepted("a", 3)).toBe(false);
  });

  it("counts in all windows of a claim or in none", () => {
    const { windows, take } = createWindows();
    const claim = (own: string) =>
      firstOf(
        windows.claim([
          [`group|${own}`, 2],
          ["group|all", 3],
        ]),
      );
    expect(claim("a")).toEqual([-1, 0, 1]);
    expect(claim("a")).toEqual([-1, 0, 2]);
    expect(claim("a")).toEqual([0, MINUTE_MS, 2]);
    expect(claim("b")).toEqual([-1, 0, 1]);
    expect(claim("b")).toEqual([1, MINUTE_MS, 1]);
    expect(claim("b")).toEqual([1, MINUTE_MS, 1]);
    expect(firstOf(take("all", 4))).toEqual([-1, 0, 4]);
  });

  it("waits until enough have left when the limit was lowered", () => {
    const { clock, take } = createWindows();
    for (let count = 0; count < 10; count += 1) {
      take("a", 10);
      clock.now += 100;
    }
    // All but three of the ten have to go, of which the eighth came after 700 ms.
    expect(take("a", 3)).toEqual([0, MINUTE_MS + 700 - 1_000, 10, MINUTE_MS - 1_000]);
  });

  it("is searched once for the moment when a company has room again, however many are refused", () => {
    const { clock, windows, take } = createWindows();
    for (let count = 0; count < 5_000; count += 1) {
      take("all", 10_000);
      clock.now += 10;
    }
    const search = jest.spyOn(Moments.prototype, "oldest");
    try {
      for (let key = 0; key < 1_000; key += 1) {
        const claim = windows.claim([
          [`group|${key}`, 10],
          ["group|all", 20],
        ]);
        expect(firstOf(claim)).toEqual([1, MINUTE_MS - 200, 0]);
      }
      expect(search.mock.calls.filter(([n]) => n > 1)).toEqual([[4_981]]);
    } finally {
      search.mockRestore();
    }
  });

  it("lets no more through when much comes within the same milliseconds", () => {
    const { clock, isAccepted } = createWindows();
    const start = clock.now;
    const accepted: number[] = [];
    for (; clock.now < start + 3 * MINUTE_MS; clock.now += 0.75) {
      if (isAccepted("a", 5_000)) accepted.push(clock.now);
    }
    expect(accepted.length).toBeGreaterThan(14_990);
    for (const [index, at] of accepted.entries()) {
      const next = accepted[index + 5_000];
      if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(MINUTE_MS);
    }
  });

  it("forgets those of clients rather than keep more than its memory, and callers' for no client", () => {
    const { windows, isAccepted, clock } = createWindows();
    const isPosted = (client: number) =>
      firstOf(windows.claim([[`client:${client}|inbound`, 2]]))[0] < 0;
    isAccepted("caller", 1);
    isPosted(0);
    isPosted(0);
    expect(isPosted(0)).toBe(false);
    for (let client = 1; client < 60_000; client += 1) isPosted(client);
    expect(isPosted(0)).toBe(true);
    expect(isPosted(59_999)).toBe(true);
    expect(isPosted(59_999)).toBe(false);
    expect(isAccepted("caller", 1)).toBe(false);
    clock.now += MINUTE_MS;
    expect(isAccepted("caller", 1)).toBe(true);
  });
});

describe("the gateways of a window", () => {
  it("stay apart in windows, whatever number they have got", () => {
    const { clock, windows, take } = createWindows();
    for (let gateway = 0; gateway < 500; gateway += 1) {
      windows.note(`gateway ${gateway}`, ["group|a"]);
      windows.learn(["group|a", `gateway ${gateway}`, [0, 2]]);
      clock.now += 1_000;
    }
    // Two of each of the last 59, which are at least a second old, and this one.
    expect(take("a", 1_000)[2]).toBe(2 * 59 + 1);
  });
});

describe("moments", () => {
  it("count nothing twice that is told by several", () => {
    const moments = new Moments();
    for (let moment = 0; moment < 1_000; moment += 100) moments.add(moment, 1);
    moments.add(1_000, 2);
    const told = moments.agesAt(2_000).get(1) ?? [];
    moments.learn(1, told, 2_000);
    moments.learn(1, told.slice(6), 2_000);
    moments.learn(3, told, 2_000);
    moments.learn(3, told.slice(0, 10), 2_000);
    expect(moments.count).toBe(21);
    moments.dropUntil(950);
    expect(moments.count).toBe(1);
    expect(moments.oldest(1)).toBe(1_000);
  });
});

describe("gateways", () => {
  it("bring nobody back who has said goodbye, whatever still comes from there", () => {
    const members = new Members("self");
    members.hear("other", 0);
    expect(members.leave("other", 10)).toBe(true);
    expect(members.hasLeft("other")).toBe(true);
    expect(members.isAlone).toBe(true);
    members.leave("another", 20);
    expect(members.hasLeft("other")).toBe(true);
  });

  it("agree on who is responsible, and move nothing but what a newcomer or a leaver has", () => {
    const names = ["one", "two", "three"];
    const views = names.map((self) => {
      const members = new Members(self);
      for (const other of names) if (other !== self) members.hear(other, 0);
      return members;
    });
    const homes = Array.from({ length: 3_000 }, (_, group) => {
      const all = views.map((members) => members.responsibleFor(group));
      expect(new Set(all.map(({ home, deputy }) => `${home} ${deputy}`)).size).toBe(1);
      return all[0];
    });
    for (const name of names) {
      expect(homes.filter((each) => each?.home === name).length).toBeGreaterThan(800);
    }
    const [first] = views;
    first?.lose("two");
    for (const [group, before] of homes.entries()) {
      const after = first?.responsibleFor(group);
      expect(after?.home).toBe(before?.home === "two" ? before.deputy : before?.home);
    }
  });
});
