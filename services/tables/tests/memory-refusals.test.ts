import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { figuresOf } from "./support/figures-of.ts";
import { fillTable } from "./support/fill-table.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createReadGate } from "./support/read-gate.ts";
import type { ReadGate } from "./support/read-gate.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

const MIB = 1024 * 1024;
/** What questions of one company may use at a time; all companies may use twice that. */
const COMPANY_BYTES_MAX = 4 * MIB;
/** A column of as many rows takes between a half and two thirds of that. */
const LARGE = { rows: 1_200, prefix: "", repeats: 60 };

let harness: Harness;
let gate: ReadGate;
let registry: Registry;
let clients: Clients;

beforeAll(async () => {
  harness = await startHarness();
  gate = await createReadGate(harness);
});
beforeEach(async () => {
  registry = new Registry();
  const options = { metricsRegistry: registry, companyBytesMax: COMPANY_BYTES_MAX, threads: 1 };
  clients = harness.connect(await harness.start(options));
});
afterEach(() => gate.open());
afterAll(async () => {
  await gate.end();
  await harness.close();
});

const byName = { sort: "name", show: "amount", limit: 1 };
const byAmount = { sort: "amount", show: "amount", limit: 1 };
const IN_USE = 'tables_cache_bytes_in_use{thread="0"}';

const bytesInUse = async (): Promise<number> => (await figuresOf(registry, IN_USE))[IN_USE] ?? 0;
const refusals = () => figuresOf(registry, "tables_questions_ended_total");

async function createLarge(identity = newIdentity()): Promise<RowTable> {
  const table = await createRowTable(harness, identity);
  await fillTable(harness, table.tableId, LARGE);
  return table.at(clients);
}

async function createSmall(): Promise<RowTable> {
  const table = await createRowTable(harness, newIdentity());
  await table.insertAll([{ amount: 2 }, { amount: 1 }]);
  return table.at(clients);
}

/** Has questions about tables wait for the rows of their pages, with their columns in use. */
async function hold(tables: readonly RowTable[]): Promise<{ end(): Promise<unknown[]> }> {
  for (const table of tables) await table.query(byName);
  const idle = await bytesInUse();
  expect(idle).toBe(0);
  await gate.close(tables.map(({ tableId }) => tableId));
  const asked = Promise.all(tables.map((table) => table.query(byName)));
  await waitFor(async () => (await gate.waiting()) === tables.length);
  expect(await bytesInUse()).toBeGreaterThan((tables.length * COMPANY_BYTES_MAX) / 2);
  return {
    async end() {
      await gate.open();
      return asked;
    },
  };
}

describe("questions that need too much memory", () => {
  it("of one company together are refused with 429, and another company's is answered", async () => {
    const identity = newIdentity();
    const [first, second] = [await createLarge(identity), await createLarge(identity)];
    const other = await createLarge();
    const held = await hold([first]);
    const error = await errorOf(second.query(byName));
    expect([error.reason, error.retryAfterMs]).toEqual(["RATE_LIMITED", 1_000]);
    expect(error.details).toEqual({ limit: "tableMemory", maxBytes: COMPANY_BYTES_MAX });
    // As large, but of a company that uses nothing else.
    expect((await other.query(byName)).total).toBe(LARGE.rows);
    // Nor is what needs little refused to the company itself.
    expect((await second.query(byAmount)).values).toEqual([0]);
    expect(await held.end()).toHaveLength(1);
    expect((await second.query(byName)).total).toBe(LARGE.rows);
    expect(await refusals()).toEqual({
      'tables_questions_ended_total{reason="memory_of_company"}': 1,
    });
    await waitFor(async () => (await bytesInUse()) === 0);
  });

  it("of all companies together are refused with 503, and what is in memory is answered", async () => {
    const [first, second, third] = [await createLarge(), await createLarge(), await createLarge()];
    const warm = await createSmall();
    expect((await warm.query(byAmount)).values).toEqual([1]);
    const last = await createLarge();
    const held = await hold([first, second, third]);
    const error = await errorOf(last.query(byName));
    expect([error.reason, error.retryAfterMs]).toEqual(["UNAVAILABLE", 1_000]);
    expect(error.details).toBeUndefined();
    expect((await warm.query(byAmount)).values).toEqual([1]);
    expect(await held.end()).toHaveLength(3);
    expect((await last.query(byName)).total).toBe(LARGE.rows);
    expect(await refusals()).toEqual({
      'tables_questions_ended_total{reason="memory_of_all"}': 1,
    });
  });

  it("for one table alone are refused with 400 however they come, and the thread survives", async () => {
    const columns = Array.from(
      { length: 20 },
      (_, n) => ({ id: `c${n}`, name: `C${n}`, type: "text" }) as const,
    );
    const wide = await createRowTable(harness, newIdentity(), { columns });
    const rowAt = (n: number) => {
      const text = `${n}`.padEnd(2_000, "x");
      return { ...Object.fromEntries(columns.map(({ id }) => [id, text])), c0: `${n}` };
    };
    for (let from = 0; from < 400; from += 100) {
      await wide.insertAll(Array.from({ length: 100 }, (_, n) => rowAt(from + n)));
    }
    const here = wide.at(clients);
    const condition = { operator: "contains", value: "y" };
    const filter = Object.fromEntries(columns.map(({ id }) => [id, { condition }]));
    const asked = Array.from({ length: 10 }, () =>
      errorOf(here.query({ filter, show: "c0", limit: 1 })),
    );
    for (const error of await Promise.all(asked)) {
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.details).toEqual({ limit: "tableMemory", maxBytes: COMPANY_BYTES_MAX });
    }
    expect((await here.query({ sort: "c0", show: "c0", limit: 1 })).values).toEqual(["0"]);
    const counted = await registry.metrics();
    expect(counted).not.toMatch(/tables_threads_lost_total [1-9]/);
  });
});
