import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { figuresOf } from "./support/figures-of.ts";
import { fillTable } from "./support/fill-table.ts";
import { errorOf, newIdentity } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";
import { useGatedQuestions } from "./support/gated-questions.ts";

const MIB = 1024 * 1024;
/** The bytes that questions of one company may use at a time; all companies may use twice that. */
const COMPANY_BYTES_MAX = 4 * MIB;
/** A column of these rows takes between a half and two thirds of a company's bytes. */
const LARGE = { rows: 1_200, prefix: "", repeats: 60 };

const bench = useGatedQuestions({ companyBytesMax: COMPANY_BYTES_MAX });

const byName = { sort: "name", show: "amount", limit: 1 };
const byAmount = { sort: "amount", show: "amount", limit: 1 };

const refusals = () => figuresOf(bench.registry, "tables_questions_ended_total");

async function createLarge(identity = newIdentity()): Promise<RowTable> {
  const table = await createRowTable(bench.harness, identity);
  await fillTable(bench.harness, table.tableId, LARGE);
  return table.at(bench.clients);
}

async function createSmall(): Promise<RowTable> {
  const table = await createRowTable(bench.harness, newIdentity());
  await table.insertAll([{ amount: 2 }, { amount: 1 }]);
  return table.at(bench.clients);
}

/** Lets questions about tables wait for the rows of their pages, with their columns in use. */
async function hold(tables: readonly RowTable[]): Promise<{ end(): Promise<unknown[]> }> {
  for (const table of tables) await table.query(byName);
  const idle = await bench.bytesInUse();
  expect(idle).toBe(0);
  await bench.gate.close(tables.map(({ tableId }) => tableId));
  const asked = Promise.all(tables.map((table) => table.query(byName)));
  await waitFor(async () => (await bench.gate.waiting()) === tables.length);
  expect(await bench.bytesInUse()).toBeGreaterThan((tables.length * COMPANY_BYTES_MAX) / 2);
  return {
    async end() {
      await bench.gate.open();
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
    // A table as large is no burden for a company that uses nothing else.
    expect((await other.query(byName)).total).toBe(LARGE.rows);
    // The company itself still gets an answer that needs little.
    expect((await second.query(byAmount)).values).toEqual([0]);
    expect(await held.end()).toHaveLength(1);
    expect((await second.query(byName)).total).toBe(LARGE.rows);
    expect(await refusals()).toEqual({
      'tables_questions_ended_total{reason="memory_of_company"}': 1,
    });
    await waitFor(async () => (await bench.bytesInUse()) === 0);
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
    const wide = await createRowTable(bench.harness, newIdentity(), { columns });
    const rowAt = (n: number) => {
      const text = `${n}`.padEnd(2_000, "x");
      return { ...Object.fromEntries(columns.map(({ id }) => [id, text])), c0: `${n}` };
    };
    for (let from = 0; from < 400; from += 100) {
      await wide.insertAll(Array.from({ length: 100 }, (_, n) => rowAt(from + n)));
    }
    const here = wide.at(bench.clients);
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
    const counted = await bench.registry.metrics();
    expect(counted).not.toMatch(/tables_threads_lost_total [1-9]/);
  });
});
