import { expect } from "@jest/globals";
import { createGroupMember } from "../../src/rate-limits/group-member.ts";
import { Members } from "../../src/rate-limits/members.ts";
import type { DecidedWith } from "../../src/rate-limits/decision-report.ts";
import { SimulatedGateways } from "./simulated-gateways.ts";

/*
 * Several gateways share one simulated clock, so that a busy machine changes nothing between them. All requests
 * fall into one window.
 */

/** The window of the limits. */
export const WINDOW_MS = 60_000;
/** The requests that each key may have in the window. */
export const LIMIT = 10;
/** Enough keys that each gateway is home of some, and deputy of others. */
export const KEYS = Array.from({ length: 6 }, (_, company) => `company-${company}|read`);
/** A gateway is missed after 2.5 s; another one has taken its place after this time. */
export const RECOVERY_MS = 4_000;
/** The longest that a request waits for its decision. */
export const DECISION_MS_MAX = 5_000;

/** Gateways on one simulated clock, none of which has joined yet. */
export function createGateways() {
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

/** What `createGateways` returns. */
export type Created = ReturnType<typeof createGateways>;

/** Gateways that have joined and know each other. */
export async function startGateways(count: number): Promise<Created> {
  const created = createGateways();
  for (let gateway = 0; gateway < count; gateway += 1) created.gateways.join();
  await created.pass(RECOVERY_MS);
  return created;
}

/** Sends `times` requests of each key to one gateway. */
export function askAll({ gateways }: Created, gateway: number, times: number, limit = LIMIT): void {
  for (const key of KEYS) gateways.ask(gateway, [[key, limit]], times);
}

/** Fails where a key has more requests through than its limit and 2 %. */
export function expectWithinTheLimit({ gateways }: Created, limit = LIMIT): void {
  for (const key of KEYS) {
    expect(gateways.accepted(key)).toBeLessThanOrEqual(Math.floor(limit * 1.02));
  }
}

/** A request that waits for other gateways is decided at a heartbeat; messages of 1 ms come on top. */
export const HEARTBEAT_MS = 260;
