import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { insertPreparedCompany } from "@workflow/service-gateway/admin";
import { createTestDatabase, startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats, TestDatabase } from "@workflow/testkit";
import { startGatewayProcess } from "../support/gateway-process.ts";
import type { GatewayProcess } from "../support/gateway-process.ts";
import { startSlowLink } from "../support/slow-link.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/*
 * Gateways that are slow but live, on one real NATS. What each test does takes less than a minute, so that all
 * it is let through counts in one window.
 */

const LIMIT = 60;
/** What several gateways may let through beyond it. */
const LIMIT_AND_TOLERANCE = Math.floor(LIMIT * 1.02);
/** So many that each gateway is home of some, and deputy of others. */
const COMPANIES = 6;

let database: TestDatabase;
let nats: LocalNats;
let system: WholeSystem;
let ends: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  nats = await startLocalNats();
  database = await createTestDatabase();
  system = await startWholeSystem({ databaseUrl: database.connectionUri });
});
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
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
  it("lets no more through than the limit when it stands still again and again", async () => {
    const origins = [await startGateway(), await startGateway()];
    const { child, origin } = await startOther();
    const keys = await newKeys();
    const count = new Count();
    const underWay: Promise<void>[] = [];
    for (const [index, stillMs] of [300, 800, 500, 400, 800, 300].entries()) {
      child.kill("SIGSTOP");
      // What waits at the one that stands still is decided when it goes on.
      underWay.push(count.ask(keys, 3, [origin]));
      await count.ask(keys, 2, origins);
      await pause(stillMs);
      child.kill("SIGCONT");
      underWay.push(count.ask(keys, 2 + index, [...origins, origin]));
      await pause(150);
    }
    await Promise.all(underWay);
    await count.ask(keys, LIMIT, [...origins, origin]);
    count.expectAtMostTheLimit(LIMIT * 0.5);
  });

  it("lets no more through than the limit when it comes back after it was given up", async () => {
    const origins = [await startGateway(), await startGateway()];
    const { child, origin } = await startOther();
    const keys = await newKeys();
    const count = new Count();
    await count.ask(keys, 5, [...origins, origin]);
    child.kill("SIGSTOP");
    const underWay = count.ask(keys, LIMIT, [origin]);
    await count.ask(keys, 5, origins);
    await pause(5_000);
    await count.ask(keys, LIMIT, origins);
    child.kill("SIGCONT");
    await Promise.all([underWay, count.ask(keys, LIMIT, [...origins, origin])]);
    count.expectAtMostTheLimit(LIMIT * 0.7);
  });

  it("is heard by one that joins while it stands still", async () => {
    const { child, origin } = await startOther();
    const keys = await newKeys();
    const count = new Count();
    await count.ask(keys, LIMIT, [origin]);
    child.kill("SIGSTOP");
    const joining = startGateway();
    await pause(600);
    child.kill("SIGCONT");
    await count.ask(keys, LIMIT, [await joining]);
    count.expectAtMostTheLimit(LIMIT);
  });

  it("lets through nothing of which it knows too little when nobody who knows answers", async () => {
    const link = await startSlowLink(Number(new URL(nats.url).port), 0);
    ends.push(() => link.close());
    const url = `nats://127.0.0.1:${link.port}`;
    const origins = [await startGateway(url), await startGateway(url), await startGateway(url)];
    const keys = await newKeys();
    const count = new Count();
    // On a busy machine answers may be late already: what is refused then is asked for again.
    await waitFor(async () => {
      await count.ask(
        keys.filter((key) => count.of(key) < LIMIT * 0.7),
        1,
        origins.slice(0, 1),
      );
      return keys.every((key) => count.of(key) >= LIMIT * 0.7);
    });
    // What was counted is known to the one that would take over, as it is a beat later.
    await pause(1_500);
    // Or later still: what somebody answers comes behind all that it has told of others.
    await count.ask(keys, 2, origins);
    // An answer takes four times as long: later than anybody waits, but each is heard all the time.
    link.setDelay(700);
    await count.ask(keys, LIMIT, origins);
    count.expectAtMostTheLimit(LIMIT * 0.7);
  });

  it("takes at most its share when no answer comes in time", async () => {
    const link = await startSlowLink(Number(new URL(nats.url).port), 130);
    const url = `nats://127.0.0.1:${link.port}`;
    ends.push(() => link.close());
    // Both ways of both: 520 ms pass before an answer is there.
    const origins = [await startGateway(url), await startGateway(url)];
    await pause(1_000);
    const keys = await newKeys();
    const count = new Count();
    for (let burst = 0; burst < 4; burst += 1) await count.ask(keys, LIMIT, origins);
    count.expectAtMostTheLimit(LIMIT * 0.3);
  });
});
