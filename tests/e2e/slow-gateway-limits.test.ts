import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { insertPreparedCompany } from "@workflow/service-gateway/admin";
import { createTestDatabase, startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats, TestDatabase } from "@workflow/testkit";
import { startGatewayProcess } from "../support/gateway-process.ts";
import type { GatewayProcess } from "../support/gateway-process.ts";
import { startSlowLink } from "../support/slow-link.ts";
import { whenUndisturbed } from "../support/undisturbed.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/*
 * Gateways that are slow but live, on one real NATS. How much is let through whatever happens when is the matter of
 * services/gateway/tests/rate-limit-schedules.test.ts, which needs no clock.
 */

const LIMIT = 60;
/** What several gateways may let through beyond it. */
const LIMIT_AND_TOLERANCE = Math.floor(LIMIT * 1.02);
/** So many that each gateway is home of some, and deputy of others. */
const COMPANIES = 6;

let database: TestDatabase;
let nats: LocalNats;
let system: WholeSystem;
const logLines: string[] = [];
let ends: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  nats = await startLocalNats();
  database = await createTestDatabase();
  const log = { write: (line: string) => void logLines.push(line) };
  system = await startWholeSystem({ databaseUrl: database.connectionUri, log });
});
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
  logLines.length = 0;
});
afterAll(async () => {
  await system.stop();
  await nats.stop();
  await database.close();
});

async function newKeys(): Promise<string[]> {
  const keys: string[] = [];
  for (let index = 0; index < COMPANIES; index += 1) {
    const email = `${crypto.randomUUID()}@limits.example`;
    const prepared = { name: "Limits", email, passwordHash: "-" };
    const { apiKey } = await system.database.transaction((transaction) =>
      insertPreparedCompany(transaction, prepared),
    );
    keys.push(apiKey);
  }
  return keys;
}

async function startGateway(natsUrl = nats.url): Promise<string> {
  const limits = { read: LIMIT, write: LIMIT, execute: LIMIT };
  const options = { limits, companyFactor: 1, natsUrl };
  const gateway = await system.startGateway({ rateLimits: options });
  ends.push(() => gateway.stop());
  return gateway.origin;
}

/** A gateway that can be made to stand still. */
async function startOther(): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(system, {
    DATABASE_URL: database.connectionUri,
    NATS_URL: nats.url,
    RATE_LIMIT_READ: String(LIMIT),
    RATE_LIMIT_COMPANY_FACTOR: "1",
  });
  ends.push(async () => {
    const exited = once(gateway.child, "exit");
    // A process that was stopped ends when it goes on.
    gateway.child.kill("SIGCONT");
    gateway.child.kill("SIGTERM");
    await exited;
  });
  return gateway;
}

/** Counts what is let through, key by key. */
class Count {
  readonly accepted = new Map<string, number>();

  /** How many of a key's requests were let through. */
  of(key: string): number {
    return this.accepted.get(key) ?? 0;
  }

  /** Asks each gateway for each key so often, all at once. */
  async ask(keys: readonly string[], times: number, origins: readonly string[]): Promise<void> {
    await Promise.all(
      keys.flatMap((key) =>
        origins.flatMap((origin) =>
          Array.from({ length: times }, async () => this.#askOnce(key, origin)),
        ),
      ),
    );
  }

  async #askOnce(key: string, origin: string): Promise<void> {
    const url = `${origin}/api/v1/blocks/core`;
    const { status } = await fetch(url, { method: "HEAD", headers: { "x-api-key": key } });
    expect([404, 429]).toContain(status);
    if (status === 404) this.accepted.set(key, this.of(key) + 1);
  }

  expectAtMostTheLimit(atLeast: number): void {
    const totals = [...this.accepted.values()];
    expect(totals).toHaveLength(COMPANIES);
    expect(Math.max(...totals)).toBeLessThanOrEqual(LIMIT_AND_TOLERANCE);
    expect(Math.min(...totals)).toBeGreaterThanOrEqual(atLeast);
  }
}

describe("a gateway that is slow but lives", () => {
  it("is missed when it stands still, and lets through no more than the limit when it goes on", async () => {
    const origins = [await startGateway(), await startGateway()];
    const { child, origin } = await startOther();
    await whenUndisturbed(
      async () => {
        const keys = await newKeys();
        const count = new Count();
        await count.ask(keys, 5, [...origins, origin]);
        const before = new Map(count.accepted);
        child.kill("SIGSTOP");
        const underWay = count.ask(keys, LIMIT, [origin]);
        try {
          // Others take its place in all that it decided.
          await waitFor(async () => {
            await count.ask(keys, 1, origins);
            return keys.every((key) => count.of(key) > (before.get(key) ?? 0));
          });
        } finally {
          child.kill("SIGCONT");
        }
        await Promise.all([underWay, count.ask(keys, LIMIT, [...origins, origin])]);
        count.expectAtMostTheLimit(1);
      },
      // Both others miss it.
      { logLines, missed: 2 },
    );
  });

  it("lets through no more than the limit when no message comes at once", async () => {
    const link = await startSlowLink(Number(new URL(nats.url).port), 130);
    const url = `nats://127.0.0.1:${link.port}`;
    ends.push(() => link.close());
    const origins = [await startGateway(url), await startGateway(url)];
    await whenUndisturbed(
      async () => {
        const keys = await newKeys();
        const count = new Count();
        // Until both have heard that they are two.
        await waitFor(async () => {
          await count.ask(keys, 1, origins);
          return keys.every((key) => count.of(key) > 0);
        });
        for (let burst = 0; burst < 2; burst += 1) await count.ask(keys, LIMIT, origins);
        count.expectAtMostTheLimit(1);
      },
      { logLines },
    );
  });
});
