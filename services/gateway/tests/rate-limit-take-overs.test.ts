import { describe, expect, it } from "@jest/globals";
import type { Settled } from "./support/simulated-gateways.ts";
import {
  LIMIT,
  KEYS,
  RECOVERY_MS,
  DECISION_MS_MAX,
  startGateways,
  askAll,
  expectWithinTheLimit,
} from "./support/gateway-group.ts";
import type { Created } from "./support/gateway-group.ts";

function longestOf(settled: readonly Settled[]): number {
  return Math.max(0, ...settled.map(({ askedAt, settledAt }) => settledAt - askedAt));
}

describe("a gateway", () => {
  it("is without NATS no sooner than after three seconds", async () => {
    const created = await startGateways(3);
    created.gateways.serverStandsStill(1_700);
    created.gateways.setDelays(0, 1, 1_100);
    await created.pass(2_750);
    askAll(created, 0, LIMIT);
    await created.pass(DECISION_MS_MAX);
    expect(created.decisions).not.toContain("nobody");
    askAll(created, 1, LIMIT);
    await created.pass(DECISION_MS_MAX);
    expectWithinTheLimit(created);
  });

  it("is not replaced while what it lets through may be under way", async () => {
    const created = await startGateways(3);
    created.gateways.setDelays(0, 1_400, 1);
    await created.pass(700);
    askAll(created, 0, LIMIT);
    await created.pass(550);
    for (const other of [1, 2]) askAll(created, other, LIMIT);
    await created.pass(DECISION_MS_MAX);
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
    await pass(2 * DECISION_MS_MAX);
    const accepted = new Map<string, number>();
    for (const { key, outcome } of gateways.settled) {
      if (outcome[0] < 0) accepted.set(key, (accepted.get(key) ?? 0) + 1);
    }
    expect(Math.max(...accepted.values())).toBe(LIMIT);
  });

  /** Asks all live gateways once for each key. Returns the decisions, the fastest first. */
  async function askOnce(created: Created): Promise<Settled[]> {
    const { gateways, pass } = created;
    const before = gateways.settled.length;
    for (const gateway of gateways.live) askAll(created, gateway, 1, 100);
    await pass(DECISION_MS_MAX + RECOVERY_MS);
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
    expect(longestOf(settled)).toBeLessThanOrEqual(DECISION_MS_MAX);
  });

  it("refuses for a second what nobody who knows has answered in time", async () => {
    const created = await startGateways(3);
    for (const gateway of created.gateways.live) created.gateways.setDelays(gateway, 1_300, 1_300);
    await created.pass(RECOVERY_MS);
    const settled = await askOnce(created);
    expect(refused(settled).map(({ outcome }) => outcome[1])).toContain(1_000);
    expect(created.decisions).toContain("unknown");
    expect(longestOf(settled)).toBeLessThanOrEqual(DECISION_MS_MAX);
  });

  it("goes beyond a large limit by a hundredth at most, for not waiting", async () => {
    const limit = 600;
    const created = await startGateways(3);
    for (let burst = 0; burst < 20; burst += 1) {
      for (const gateway of created.gateways.live) askAll(created, gateway, limit / 20, limit);
      await created.pass(20);
    }
    await created.pass(DECISION_MS_MAX);
    for (const key of KEYS) {
      expect(created.gateways.accepted(key)).toBeGreaterThanOrEqual(limit);
      expect(created.gateways.accepted(key)).toBeLessThanOrEqual(limit * 1.01);
    }
  });
});
