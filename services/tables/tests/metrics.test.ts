import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";

const registry = new Registry();
let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ metricsRegistry: registry, threads: 1 });
});
afterAll(() => harness.close());

/** Every series about columns in memory, by its name and labels. */
async function figures(): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split("\n");
  const series = lines.filter((line) => /^tables_(?:cache|tries)/.test(line));
  return Object.fromEntries(
    series.map((line) => [
      line.slice(0, line.lastIndexOf(" ")),
      Number(line.slice(line.lastIndexOf(" "))),
    ]),
  );
}

const AS_IS_ANSWERS = 'tables_tries_total{try="as_is",outcome="answer"}';
const byAmount = { sort: "amount", show: "amount" };

describe("metrics of columns in memory", () => {
  it("tell bytes, hits, loads and tries, and no company", async () => {
    const identities = [newIdentity(), newIdentity()];
    const [larger, smaller] = await Promise.all(
      identities.map((identity) => createRowTable(harness, identity)),
    );
    if (larger === undefined || smaller === undefined) throw new Error("there are two tables");
    await larger.insertAll(Array.from({ length: 2_000 }, (_, amount) => ({ amount })));
    await smaller.insertAll([{ amount: 1 }]);
    await larger.query(byAmount);
    await larger.query(byAmount);
    await smaller.query(byAmount);
    // A page is answered before its thread has told what that took.
    await waitFor(async () => (await figures())[AS_IS_ANSWERS] === 3);
    const before = await figures();
    expect(before).toMatchObject({
      'tables_cache_columns_total{outcome="load"}': 2,
      'tables_cache_columns_total{outcome="hit"}': 1,
      'tables_tries_total{try="as_is",outcome="answer"}': 3,
    });
    const total = before['tables_cache_bytes{thread="0"}'] ?? 0;
    const largest = before['tables_cache_bytes_of_largest_company{thread="0"}'] ?? 0;
    expect(largest).toBeGreaterThan(total / 2);
    expect(largest).toBeLessThan(total);
    await larger.insert({ amount: -1 });
    await larger.query(byAmount);
    const caughtUp = 'tables_tries_total{try="caught_up",outcome="answer"}';
    await waitFor(async () => (await figures())[caughtUp] === 1);
    expect(await figures()).toMatchObject({ 'tables_tries_total{try="as_is",outcome="none"}': 1 });
    for (const { companyId } of identities) {
      expect(await registry.metrics()).not.toContain(companyId);
    }
  });

  it("tell that a column alone is read again which nobody asked for while much was written", async () => {
    const own = new Registry();
    const service = await harness.start({ metricsRegistry: own });
    const table = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    const here = table.at(harness.connect(service));
    const byName = { sort: "name", show: "amount", limit: 1 };
    await table.insertAll([{ amount: -1, name: "first" }]);
    await here.query(byName);
    for (let part = 0; part < 3; part++) {
      await table.insertAll(Array.from({ length: 8_000 }, (_, amount) => ({ amount, name: "z" })));
      expect((await here.query({ ...byAmount, limit: 1 })).values).toEqual([-1]);
    }
    expect(await here.query(byName)).toEqual({ values: [-1], total: 24_001 });
    const loads = '\ntables_cache_columns_total{outcome="load"} 3\n';
    await waitFor(async () => (await own.metrics()).includes(loads));
    const text = await own.metrics();
    expect(text).not.toContain("\ntables_cache_losses_total 1");
  });

  it("tell what is given back for want of memory", async () => {
    const forgetful = new Registry();
    const service = await harness.start({
      metricsRegistry: forgetful,
      cacheBytesMax: 1,
      threads: 1,
    });
    const table = await createRowTable(harness, newIdentity());
    await table.insert({ amount: 1 });
    await table.at(harness.connect(service)).query(byAmount);
    const evictions = (text: string) =>
      Number(/tables_cache_evictions_total (\d+)/.exec(text)?.[1] ?? 0);
    await waitFor(async () => evictions(await forgetful.metrics()) > 0);
    const text = await forgetful.metrics();
    expect(text).toContain('\ntables_cache_bytes{thread="0"} 0\n');
  });
});
