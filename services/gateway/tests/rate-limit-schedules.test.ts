import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { createGroupMember } from "../src/rate-limits/group-member.ts";
import { Members } from "../src/rate-limits/members.ts";
import type { DecidedWith } from "../src/rate-limits/decision-report.ts";
import { SimulatedGateways } from "./support/simulated-gateways.ts";
import type { Settled } from "./support/simulated-gateways.ts";

/*
 * The code of several gateways on one clock that is not the machine's: what happens between them is the same each
 * time, however busy the machine is. All that is asked for here is within one window.
 */

const WINDOW_MS = 60_000;
const LIMIT = 10;
/** So many that each gateway is home of some, and deputy of others. */
const KEYS = Array.from({ length: 6 }, (_, company) => `company-${company}|read`);
/** What a schedule takes at most before everybody is asked for all that is left. */
const SCHEDULE_MS = 30_000;
/** A gateway is missed after 2.5 s; another one has taken its place by then. */
const RECOVERY_MS = 4_000;
/** No request waits longer. */
const PATIENCE_MS = 5_000;

type Step =
  | { readonly kind: "ask"; readonly gateway: number; readonly times: number }
  | { readonly kind: "still"; readonly gateway: number; readonly ms: number }
  | {
      readonly kind: "delays";
      readonly gateway: number;
      readonly up: number;
      readonly down: number;
    }
  | { readonly kind: "server"; readonly ms: number }
  | { readonly kind: "cut"; readonly gateway: number; readonly ms: number }
  | { readonly kind: "kill" | "leave"; readonly gateway: number }
  | { readonly kind: "join" };

interface Timed {
  readonly step: Step;
  /** Until the next one. */
  readonly thenMs: number;
}

function createGateways() {
  const decisions: DecidedWith[] = [];
  const gateways = new SimulatedGateways((self, clock, send) => {
    const members = new Members(self);
    const member = createGroupMember({
      windowMs: WINDOW_MS,
      clock,
      members,
      onDecision: (decidedWith) => void decisions.push(decidedWith),
      send,
      isConnected: () => true,
      onSilence: () => {},
    });
    return {
      claim: (claims) => member.windows.claim(claims),
      receive: (message) => member.receive(message),
      connect: () => member.announce(),
      hasCompany: () => !members.isAlone,
      leave: () => member.end(),
    };
  });
  const { world } = gateways;
  const pass = (ms: number): Promise<void> => world.runUntil(world.now + ms);
  return { gateways, world, decisions, pass };
}

type Created = ReturnType<typeof createGateways>;

async function startGateways(count: number): Promise<Created> {
  const created = createGateways();
  for (let gateway = 0; gateway < count; gateway += 1) created.gateways.join();
  await created.pass(RECOVERY_MS);
  return created;
}

function askAll({ gateways }: Created, gateway: number, times: number, limit = LIMIT): void {
  for (const key of KEYS) gateways.ask(gateway, [[key, limit]], times);
}

/**
 * What the decision assumes: gateways that stand still for long, die or leave do so one after the other, and the
 * next one when those that are left have taken over.
 */
class Faults {
  #until = 0;

  allows(now: number, { kind, ...of }: Step): boolean {
    const isLong = "ms" in of && of.ms > 1_000;
    const isShort = kind === "still" && !isLong;
    if (isShort || !["kill", "leave", "still", "cut"].includes(kind)) return true;
    if (now < this.#until) return false;
    this.#until = now + ("ms" in of ? of.ms : 0) + RECOVERY_MS;
    return true;
  }
}

const still = (msMax: number): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant("still" as const),
    gateway: fc.nat(4),
    ms: fc.nat(msMax),
  });

const ask: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("ask" as const),
  gateway: fc.nat(4),
  times: fc.integer({ min: 1, max: 4 }),
});

/** Both ways and the server together carry a gateway's beats back within 3 s, or it would be without NATS. */
const slowUpTo = (up: number, down: number): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant("delays" as const),
    gateway: fc.nat(4),
    up: fc.nat(up),
    down: fc.nat(down),
  });
const slow = slowUpTo(1_200, 1_500);

const cut: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("cut" as const),
  gateway: fc.nat(4),
  ms: fc.integer({ min: 1, max: 6_000 }),
});

const gone: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("kill" as const, "leave" as const),
  gateway: fc.nat(4),
});

function scheduleOf(...others: fc.WeightedArbitrary<Step>[]): fc.Arbitrary<Timed[]> {
  const step = fc.oneof({ weight: 6, arbitrary: ask }, ...others);
  return fc.array(fc.record({ step, thenMs: fc.nat(1_500) }), { minLength: 4, maxLength: 20 });
}

function take(created: Created, step: Step): void {
  const { gateways } = created;
  if (step.kind === "join") {
    if (gateways.gateways.length < 5) gateways.join();
    return;
  }
  if (step.kind === "server") gateways.serverStandsStill(step.ms);
  else if (step.kind === "cut") gateways.cutOff(step.gateway, step.ms);
  else if (step.kind === "ask") askAll(created, step.gateway, step.times);
  else if (step.kind === "still") {
    gateways.standStill(step.gateway, step.ms);
    // What comes meanwhile is decided when it goes on, before it has read what others say.
    askAll(created, step.gateway, 3);
  } else if (step.kind === "delays") gateways.setDelays(step.gateway, step.up, step.down);
  else if (gateways.live.length > 1) {
    if (step.kind === "kill") gateways.kill(step.gateway);
    else gateways.leave(step.gateway);
  }
}

/** Plays a schedule, waits until all is well again, and asks everybody for all that is left. */
async function play(created: Created, schedule: readonly Timed[]): Promise<void> {
  const { gateways, world, pass } = created;
  const faults = new Faults();
  const end = world.now + SCHEDULE_MS;
  for (const { step, thenMs } of schedule) {
    if (world.now + thenMs > end) break;
    if (faults.allows(world.now, step)) take(created, step);
    await pass(thenMs);
  }
  for (const gateway of gateways.live) gateways.setDelays(gateway, 1, 1);
  await pass(2 * RECOVERY_MS);
  for (let time = 0; time < 2; time += 1) {
    for (const gateway of gateways.live) askAll(created, gateway, LIMIT);
    await pass(PATIENCE_MS + RECOVERY_MS / 4);
  }
  expect(world.now).toBeLessThan(WINDOW_MS);
}

function expectWithinTheLimit({ gateways }: Created, limit = LIMIT): void {
  for (const key of KEYS) {
    expect(gateways.accepted(key)).toBeLessThanOrEqual(Math.floor(limit * 1.02));
  }
}

/** Plays many schedules with some gateways, in all of which no more is let through than the limit. */
async function check(schedule: fc.Arbitrary<Timed[]>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(
    fc.integer({ min: 2, max: 4 }),
    schedule,
    async (count, steps) => {
      const created = await startGateways(count);
      await play(created, steps);
      expectWithinTheLimit(created);
      expect(created.gateways.waiting).toBe(0);
      const waits = created.gateways.settled.map((each) => created.gateways.waitOf(each));
      expect(Math.max(0, ...waits)).toBeLessThanOrEqual(PATIENCE_MS + HEARTBEAT_MS);
    },
  );
  await fc.assert(property, { numRuns });
}

/** Whoever waits for others to agree looks again with each heartbeat. A few messages of 1 ms come on top. */
const HEARTBEAT_MS = 260;

function longestOf(settled: readonly Settled[]): number {
  return Math.max(0, ...settled.map(({ askedAt, settledAt }) => settledAt - askedAt));
}

describe("gateways let through no more than a limit, and answer every request,", () => {
  it("when they stand still again and again", async () => {
    await check(
      scheduleOf({ weight: 2, arbitrary: still(1_000) }, { weight: 1, arbitrary: still(6_000) }),
      120,
    );
  });

  it("when they are killed, leave and join", async () => {
    await check(
      scheduleOf(
        { weight: 2, arbitrary: gone },
        { weight: 1, arbitrary: fc.constant({ kind: "join" }) },
      ),
      120,
    );
  });

  it("when messages take long to some", async () => {
    await check(scheduleOf({ weight: 2, arbitrary: slow }), 80);
  });

  it("when the server stands still for a while", async () => {
    const server = fc.record({ kind: fc.constant("server" as const), ms: fc.nat(1_900) });
    const few = { weight: 2, arbitrary: slowUpTo(350, 400) };
    await check(scheduleOf(few, { weight: 1, arbitrary: server }), 80);
  });

  it("when connections are lost and come back", async () => {
    await check(scheduleOf({ weight: 2, arbitrary: cut }), 80);
  });

  it("when all of that happens", async () => {
    await check(
      scheduleOf(
        { weight: 1, arbitrary: still(1_000) },
        { weight: 1, arbitrary: still(6_000) },
        { weight: 1, arbitrary: gone },
        { weight: 1, arbitrary: fc.constant({ kind: "join" }) },
        { weight: 1, arbitrary: slow },
      ),
      300,
    );
  });
});

describe("a gateway", () => {
  it("is without NATS no sooner than after three seconds", async () => {
    const created = await startGateways(3);
    created.gateways.serverStandsStill(1_700);
    created.gateways.setDelays(0, 1, 1_100);
    await created.pass(2_750);
    askAll(created, 0, LIMIT);
    await created.pass(PATIENCE_MS);
    expect(created.decisions).not.toContain("nobody");
    askAll(created, 1, LIMIT);
    await created.pass(PATIENCE_MS);
    expectWithinTheLimit(created);
  });

  it("is not replaced while what it lets through may be under way", async () => {
    const created = await startGateways(3);
    created.gateways.setDelays(0, 1_400, 1);
    await created.pass(700);
    askAll(created, 0, LIMIT);
    await created.pass(550);
    for (const other of [1, 2]) askAll(created, other, LIMIT);
    await created.pass(PATIENCE_MS);
    expectWithinTheLimit(created);
  });

  it("decides nothing before it was told all by one that takes long to tell", async () => {
    const created = await startGateways(2);
    const { gateways, pass } = created;
    const keys = Array.from({ length: 2_500 }, (_, company) => `busy-${company}|read`);
    for (const key of keys) gateways.ask(0, [[key, LIMIT]], LIMIT);
    await pass(RECOVERY_MS);
    for (const gateway of gateways.live) gateways.setTurn(gateway, 300);
    gateways.join();
    for (let time = 0; time < 8; time += 1) {
      await pass(300);
      for (const key of keys) gateways.ask(2, [[key, LIMIT]], 1);
    }
    await pass(2 * PATIENCE_MS);
    const accepted = new Map<string, number>();
    for (const { key, outcome } of gateways.settled) {
      if (outcome[0] < 0) accepted.set(key, (accepted.get(key) ?? 0) + 1);
    }
    expect(Math.max(...accepted.values())).toBe(LIMIT);
  });

  /** Asks all live gateways once for each key. Answers what came of it, the fastest first. */
  async function askOnce(created: Created): Promise<Settled[]> {
    const { gateways, pass } = created;
    const before = gateways.settled.length;
    for (const gateway of gateways.live) askAll(created, gateway, 1, 100);
    await pass(PATIENCE_MS + RECOVERY_MS);
    const settled = gateways.settled.slice(before);
    expect(settled).toHaveLength(gateways.live.length * KEYS.length);
    return settled;
  }

  const refused = (settled: readonly Settled[]): Settled[] =>
    settled.filter(({ outcome }) => outcome[0] >= 0);

  it("takes the place of one that was killed within three and a half seconds", async () => {
    const created = await startGateways(3);
    created.gateways.kill(0);
    const settled = await askOnce(created);
    expect(refused(settled)).toEqual([]);
    expect(longestOf(settled)).toBeLessThanOrEqual(3_500);
    expect(longestOf(await askOnce(created))).toBeLessThan(10);
  });

  it("decides at once when the last other one has said goodbye", async () => {
    const created = await startGateways(2);
    created.gateways.leave(0);
    await created.pass(10);
    expect(longestOf(await askOnce(created))).toBe(0);
    expect(new Set(created.decisions)).toEqual(new Set(["others"]));
  });

  it("knows after a kill, a stop and a join all that was let through before", async () => {
    const created = await startGateways(2);
    askAll(created, 0, LIMIT);
    await created.pass(1_000);
    created.gateways.join();
    await created.pass(RECOVERY_MS);
    created.gateways.kill(0);
    await created.pass(RECOVERY_MS);
    created.gateways.leave(1);
    await created.pass(RECOVERY_MS);
    askAll(created, 2, LIMIT);
    await created.pass(RECOVERY_MS);
    for (const key of KEYS) expect(created.gateways.accepted(key)).toBe(LIMIT);
  });

  it("is not waited for again and again when its own link is slow", async () => {
    const created = await startGateways(3);
    created.gateways.setDelays(0, 700, 700);
    await created.pass(2 * RECOVERY_MS);
    const settled = await askOnce(created);
    expect(refused(settled)).toEqual([]);
    expect(longestOf(settled.filter(({ gateway }) => gateway !== 0))).toBeLessThan(10);
  });

  it("lets through up to the limit when each message takes long", async () => {
    const created = await startGateways(3);
    for (const gateway of created.gateways.live) created.gateways.setDelays(gateway, 400, 400);
    await created.pass(RECOVERY_MS);
    const settled = await askOnce(created);
    expect(refused(settled)).toEqual([]);
    expect(longestOf(settled)).toBeLessThanOrEqual(PATIENCE_MS);
  });

  it("refuses for a second what nobody who knows has answered in time", async () => {
    const created = await startGateways(3);
    for (const gateway of created.gateways.live) created.gateways.setDelays(gateway, 1_300, 1_300);
    await created.pass(RECOVERY_MS);
    const settled = await askOnce(created);
    expect(refused(settled).map(({ outcome }) => outcome[1])).toContain(1_000);
    expect(created.decisions).toContain("unknown");
    expect(longestOf(settled)).toBeLessThanOrEqual(PATIENCE_MS);
  });

  it("goes beyond a large limit by a hundredth at most, for not waiting", async () => {
    const limit = 600;
    const created = await startGateways(3);
    for (let burst = 0; burst < 20; burst += 1) {
      for (const gateway of created.gateways.live) askAll(created, gateway, limit / 20, limit);
      await created.pass(20);
    }
    await created.pass(PATIENCE_MS);
    for (const key of KEYS) {
      expect(created.gateways.accepted(key)).toBeGreaterThanOrEqual(limit);
      expect(created.gateways.accepted(key)).toBeLessThanOrEqual(limit * 1.01);
    }
  });
});
