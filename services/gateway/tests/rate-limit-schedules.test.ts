import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import {
  WINDOW_MS,
  LIMIT,
  RECOVERY_MS,
  DECISION_MS_MAX,
  HEARTBEAT_MS,
  startGateways,
  askAll,
  expectWithinTheLimit,
} from "./support/gateway-group.ts";
import type { Created } from "./support/gateway-group.ts";

/** The longest time of a schedule, before all gateways are asked for the rest of the limit. */
const SCHEDULE_MS = 30_000;

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
  /** The time until the next step. */
  readonly thenMs: number;
}

/**
 * The assumption of the decision: gateways that stand still for long, die or leave do so one after the other, each
 * after the others have taken over.
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

/**
 * Both ways and the server together carry a gateway's heartbeats back within 3 s; a slower gateway counts as one
 * without NATS.
 */
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
    // Requests of this time are decided once the gateway goes on, before it reads messages of others.
    askAll(created, step.gateway, 3);
  } else if (step.kind === "delays") gateways.setDelays(step.gateway, step.up, step.down);
  else if (gateways.live.length > 1) {
    if (step.kind === "kill") gateways.kill(step.gateway);
    else gateways.leave(step.gateway);
  }
}

/**
 * Plays a schedule, waits until all is well again, and asks all gateways for the rest of the limit.
 */
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
    await pass(DECISION_MS_MAX + RECOVERY_MS / 4);
  }
  expect(world.now).toBeLessThan(WINDOW_MS);
}

/** Plays many schedules with some gateways; in none of them more requests pass than the limit. */
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
      expect(Math.max(0, ...waits)).toBeLessThanOrEqual(DECISION_MS_MAX + HEARTBEAT_MS);
    },
  );
  await fc.assert(property, { numRuns });
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
