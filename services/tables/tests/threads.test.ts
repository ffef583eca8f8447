import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { LossBackoff } from "../src/threads/loss-backoff.ts";
import { figuresOf } from "./support/figures-of.ts";
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
  /** A process whose threads end when a question reads the names of the large table. */
  async function startFrail(threadRefusalMs: number) {
    const registry = new Registry();
    const options = { metricsRegistry: registry, threads: 1, threadHeapMb: 40, threadRefusalMs };
    const clients = harness.connect(await harness.start(options));
    const large = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    await fillTable(harness, large.tableId, { rows: 25_000, prefix: "", repeats: 60 });
    const small = await createRowTable(harness, newIdentity());
    await small.insert({ amount: 7 });
    const figure = async (name: string) => (await figuresOf(registry, name))[name] ?? 0;
    return { large: large.at(clients), small: small.at(clients), figure };
  }

  const LOST = "tables_threads_lost_total";
  const LOADS = 'tables_cache_columns_total{outcome="load"}';

  it("takes its columns with it, not the service, nor the answers of others", async () => {
    const { large, small, figure } = await startFrail(1_000);
    expect((await small.query(byAmount)).values).toEqual([7]);
    const failed = errorOf(large.query(byName));
    const others = await Promise.all(Array.from({ length: 20 }, () => small.query(byAmount)));
    expect(new Set(others.map(({ values }) => values[0]))).toEqual(new Set([7]));
    const error = await failed;
    expect(error.reason).toBe("UNAVAILABLE");
    expect(error.retryAfterMs).toBeLessThanOrEqual(1_000);
    expect((await small.query(byAmount)).values).toEqual([7]);
    // Asked once more on a fresh thread, which has ended as well.
    expect(await figure(LOST)).toBe(2);
    expect((await large.query({ show: "amount", limit: 1 })).total).toBe(25_000);
  });

  it("is not ended again meanwhile by whoever has ended it, so others keep their columns", async () => {
    const { large, small, figure } = await startFrail(600_000);
    await errorOf(large.query(byName));
    expect((await small.query(byAmount)).values).toEqual([7]);
    const [lost, loads] = [await figure(LOST), await figure(LOADS)];
    const errors = await Promise.all(
      Array.from({ length: 100 }, () => errorOf(large.query(byName))),
    );
    expect(new Set(errors.map(({ reason }) => reason))).toEqual(new Set(["UNAVAILABLE"]));
    const waits = errors.map(({ retryAfterMs = 0 }) => retryAfterMs);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect((await small.query(byAmount)).values).toEqual([7]);
    expect([await figure(LOST), await figure(LOADS)]).toEqual([lost, loads]);
    expect(await figure('tables_questions_ended_total{reason="threads_lost"}')).toBe(100);
  });

  it("is ended once only by a question that comes after the refusal, until one is answered", async () => {
    const { large, figure } = await startFrail(1);
    const settled = async () => {
      const { reason, retryAfterMs = 0 } = await errorOf(large.query(byName));
      expect(reason).toBe("UNAVAILABLE");
      return retryAfterMs;
    };
    await settled();
    expect(await figure(LOST)).toBe(2);
    await waitFor(async () => {
      await settled();
      return (await figure(LOST)) === 3;
    });
    // Answered, so the next one is asked twice again.
    await waitFor(async () => {
      const [answer] = await Promise.allSettled([large.query(byAmount)]);
      return answer.status === "fulfilled";
    });
    await settled();
    expect(await figure(LOST)).toBe(5);
  });
});

describe("the refusals after lost threads", () => {
  let now = 1;
  const backoff = (free = 0): LossBackoff => new LossBackoff({ free, now: () => now });

  it("grow from one second to sixty, whatever is answered between, and are forgotten in the end", () => {
    const known = backoff();
    const waits = Array.from({ length: 8 }, () => {
      known.lost("a");
      const waitMs = known.refusedForMs("a");
      now += waitMs;
      expect(known.refusedForMs("a")).toBe(0);
      expect(known.isOnProbation("a")).toBe(true);
      known.answered("a");
      expect(known.isOnProbation("a")).toBe(false);
      return waitMs / 1_000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(known.refusedForMs("b")).toBe(0);
    now += 600_001;
    known.lost("a");
    expect(known.refusedForMs("a")).toBe(1_000);
  });

  it("begin later where some losses are let pass", () => {
    const known = backoff(2);
    const waits = Array.from({ length: 4 }, () => {
      known.lost("a");
      return known.refusedForMs("a") / 1_000;
    });
    expect(waits).toEqual([0, 0, 1, 2]);
  });
});
