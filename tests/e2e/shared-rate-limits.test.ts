import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createApiKey,
  insertPreparedCompany,
  setRateLimits,
} from "@workflow/service-gateway/admin";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startKillableNats } from "../support/killable-nats.ts";
import type { KillableNats } from "../support/killable-nats.ts";
import { whenUndisturbed } from "../support/undisturbed.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Gateway, WholeSystem } from "../support/whole-system.ts";

/*
 * Several gateways, one of them a process of its own, on one real NATS. Windows are a minute long and the tests
 * take less: whatever is let through in one of them is within one window.
 */

const LIMIT = 60;
/** What several gateways may let through beyond it. */
const LIMIT_AND_TOLERANCE = Math.floor(LIMIT * 1.02);
/** What a gateway counts that stood still and then answered too late may count twice. */
const LIMIT_AND_STRICTNESS = LIMIT * 0.7;
/** So many that each gateway is home of some. */
const COMPANIES = 6;
/** In this process: each of them misses the one that is killed. */
const GATEWAYS = 3;

let database: TestDatabase;
let nats: KillableNats;
let system: WholeSystem;
let gateways: Gateway[] = [];
const logLines: string[] = [];

beforeAll(async () => {
  nats = await startKillableNats();
  database = await createTestDatabase();
  const log = { write: (line: string) => void logLines.push(line) };
  system = await startWholeSystem({ databaseUrl: database.connectionUri, log });
  gateways = [await startGateway(), await startGateway(), await startGateway()];
});
afterAll(async () => {
  await system.stop();
  await nats.stop();
  await database.close();
});

/** A test of what gateways let through together, as long as they hear each other. */
function together(round: () => Promise<void>, missed = 0): () => Promise<void> {
  return () => whenUndisturbed(round, { logLines, missed });
}

function startGateway(): Promise<Gateway> {
  const limits = { read: LIMIT, write: LIMIT, execute: LIMIT };
  return system.startGateway({ rateLimits: { limits, companyFactor: 1, natsUrl: nats.url } });
}

async function newCompany(): Promise<{ companyId: string; apiKey: string }> {
  const email = `${crypto.randomUUID()}@limits.example`;
  const prepared = { name: "Limits", email, passwordHash: "-" };
  return system.database.transaction((transaction) => insertPreparedCompany(transaction, prepared));
}

/** Keys of as many new companies. */
async function newKeys(): Promise<string[]> {
  const keys: string[] = [];
  for (let index = 0; index < COMPANIES; index += 1) keys.push((await newCompany()).apiKey);
  return keys;
}

/** Asks gateways in turn, all at once, and tells how many were let through: to ask for an unknown block. */
async function ask(key: string, count: number, origins: readonly string[]): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, turn) => {
      const origin = origins[turn % origins.length] ?? "";
      const headers = { "x-api-key": key };
      const response = await fetch(`${origin}/api/v1/blocks/core`, { method: "HEAD", headers });
      return response.status;
    }),
  );
  for (const status of statuses) expect([404, 429]).toContain(status);
  return statuses.filter((status) => status === 404).length;
}

const originsOf = (some: readonly Gateway[]): string[] => some.map(({ origin }) => origin);

/** What each of some keys gets from some gateways. */
async function askAll(
  keys: readonly string[],
  count: number,
  origins: readonly string[],
): Promise<number[]> {
  const accepted: number[] = [];
  for (const key of keys) accepted.push(await ask(key, count, origins));
  return accepted;
}

function sums(...parts: number[][]): number[] {
  return (parts[0] ?? []).map((_, index) =>
    parts.reduce((sum, part) => sum + (part[index] ?? 0), 0),
  );
}

function expectNoMoreThanTheLimit(totals: readonly number[]): void {
  for (const total of totals) {
    expect(total).toBeGreaterThanOrEqual(LIMIT_AND_STRICTNESS);
    expect(total).toBeLessThanOrEqual(LIMIT_AND_TOLERANCE);
  }
}

describe("gateways on one NATS", () => {
  it(
    "let through as much as one alone would, whatever each of them is asked at once",
    together(async () => {
      const keys = await newKeys();
      const accepted = await askAll(keys, 2 * LIMIT, originsOf(gateways));
      expectNoMoreThanTheLimit(accepted);
    }),
  );

  it(
    "go beyond a large limit by a hundredth at most, for not waiting for each other",
    together(async () => {
      const { companyId, apiKey: key } = await newCompany();
      const limit = 600;
      await setRateLimits(system.database, { companyId, read: limit });
      let accepted = 0;
      for (let burst = 0; burst < 5; burst += 1) {
        accepted += await ask(key, limit / 3, originsOf(gateways));
      }
      expect(accepted).toBeGreaterThanOrEqual(limit * 0.7);
      expect(accepted).toBeLessThanOrEqual(limit * 1.02);
    }),
  );

  it(
    "count a company's keys together, wherever they are used",
    together(async () => {
      const { companyId } = await newCompany();
      const keys = await Promise.all(
        gateways.map(() =>
          createApiKey(system.database, {
            companyId,
            name: "Many",
            scopes: ["workflows:read"],
          }),
        ),
      );
      const accepted = await Promise.all(
        keys.map(({ key }, index) => ask(key, LIMIT, originsOf(gateways.slice(index, index + 1)))),
      );
      const total = accepted.reduce((sum, count) => sum + count, 0);
      expect(total).toBeGreaterThanOrEqual(LIMIT_AND_STRICTNESS);
      expect(total).toBeLessThanOrEqual(LIMIT_AND_TOLERANCE);
    }),
  );

  it(
    "let nobody through anew when one joins or leaves",
    together(async () => {
      const keys = await newKeys();
      const before = await askAll(keys, LIMIT / 2, originsOf(gateways));
      const newcomer = await startGateway();
      // The newcomer alone: what it lets through it has to know from the others.
      const joined = await askAll(keys, LIMIT / 4, [newcomer.origin]);
      const both = await askAll(keys.slice(0, 3), LIMIT, originsOf([...gateways, newcomer]));
      await newcomer.stop();
      const after = await askAll(keys, LIMIT, originsOf(gateways));
      expectNoMoreThanTheLimit(sums(before, joined, both, after));
    }),
  );

  it(
    "remember what one has let through that is killed",
    together(async () => {
      const keys = await newKeys();
      const { child, origin } = await startGatewayProcess(system, {
        DATABASE_URL: database.connectionUri,
        NATS_URL: nats.url,
        RATE_LIMIT_READ: String(LIMIT),
        RATE_LIMIT_COMPANY_FACTOR: "1",
      });
      try {
        const alone = await askAll(keys, LIMIT / 2, [origin]);
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
        const after = await askAll(keys, LIMIT, originsOf(gateways));
        const totals = sums(alone, after);
        expect(Math.max(...totals)).toBeLessThanOrEqual(LIMIT_AND_TOLERANCE);
        // Of one company nobody may know enough for a while: then it is refused, and may come again in a second.
        const all = totals.reduce((sum, total) => sum + total, 0);
        expect(all).toBeGreaterThanOrEqual(LIMIT_AND_STRICTNESS * COMPANIES);
      } finally {
        child.kill("SIGKILL");
      }
    }, GATEWAYS),
  );

  it("each count for themselves while NATS is away, say so, and put it together afterwards", async () => {
    const keys = await newKeys();
    await askAll(keys, 3, originsOf(gateways));
    await nats.kill();
    const [first] = gateways;
    if (first === undefined) throw new Error("There is no gateway.");
    await waitFor(() => logLines.some((line) => line.includes("the connection to NATS is lost")));
    for (const gateway of gateways) {
      expect(await askAll(keys, LIMIT / 2, [gateway.origin])).toEqual(
        Array(COMPANIES).fill(LIMIT / 2),
      );
    }
    expect(logLines.filter((line) => line.includes("this one counts for rate limits"))).not.toEqual(
      [],
    );
    await nats.start();
    for (const key of keys) {
      await waitFor(async () => (await ask(key, 1, [first.origin])) === 0);
      for (const { origin } of gateways) {
        await waitFor(async () => (await ask(key, 1, [origin])) === 0);
      }
    }
  });
});
