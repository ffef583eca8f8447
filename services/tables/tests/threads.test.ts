import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Registry } from "prom-client";
import { fillTable } from "./support/fill-table.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ threads: 1 });
});
afterAll(() => harness.close());

const byName = { sort: "name", show: "amount", limit: 1 };
const byAmount = { sort: "amount", show: "amount", limit: 1 };

describe("a question that takes long", () => {
  it("lets another company's on the same thread go on", async () => {
    const large = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    // Emoji have no place in the alphabets of the fast sort.
    await fillTable(harness, large.tableId, { rows: 60_000, prefix: "\u{1f600}", repeats: 1 });
    const small = await createRowTable(harness, newIdentity());
    await small.insertAll([{ amount: 2 }, { amount: 1 }]);
    await small.query(byAmount);
    // Reads the column, which the order is made of.
    const names = { name: { condition: { operator: "is_empty" } } };
    expect((await large.query({ filter: names, show: "amount" })).total).toBe(0);
    let isSorted = false;
    const sorting = large.query(byName).then((page) => {
      isSorted = true;
      return page;
    });
    let answeredMeanwhile = 0;
    for (;;) {
      const { values } = await small.query(byAmount);
      expect(values).toEqual([1]);
      if (isSorted) break;
      answeredMeanwhile += 1;
    }
    expect((await sorting).total).toBe(60_000);
    expect(answeredMeanwhile).toBeGreaterThan(2);
  });

  it("is right though rows change while it is worked out", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    await fillTable(harness, table.tableId, { rows: 20_000, prefix: "\u{1f600}", repeats: 1 });
    const filter = { name: { condition: { operator: "starts_with", value: "\u{1f600}" } } };
    const before = { ...byName, filter };
    const answers = Array.from({ length: 5 }, async (_, n) => {
      await table.insert({ amount: 0 - n, name: `\u{1f600} ${n}` });
      const { values, total } = await table.query(before);
      // Blanks come before digits: one of those that were added is the first.
      expect(values[0]).toBeLessThanOrEqual(0);
      expect(total).toBeGreaterThan(20_000);
    });
    await Promise.all(answers);
    expect(await table.query(before)).toEqual({ values: [0], total: 20_005 });
  });
});

describe("a thread that ends for want of memory", () => {
  it("takes its columns with it, not the service", async () => {
    const registry = new Registry();
    const service = await harness.start({
      metricsRegistry: registry,
      threads: 1,
      threadHeapMb: 40,
    });
    const clients = harness.connect(service);
    const large = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    await fillTable(harness, large.tableId, { rows: 25_000, prefix: "", repeats: 60 });
    const small = await createRowTable(harness, newIdentity());
    await small.insert({ amount: 7 });
    const here = small.at(clients);
    expect((await here.query(byAmount)).values).toEqual([7]);
    const error = await errorOf(large.at(clients).query(byName));
    expect([error.reason, error.retryAfterMs]).toEqual(["UNAVAILABLE", 1_000]);
    expect((await here.query(byAmount)).values).toEqual([7]);
    // Asked once more on a fresh thread, which has ended as well.
    expect(await registry.metrics()).toContain("\ntables_threads_lost_total 2\n");
    expect((await large.at(clients).query({ show: "amount", limit: 1 })).total).toBe(25_000);
  });
});
