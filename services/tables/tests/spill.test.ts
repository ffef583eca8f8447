import { mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { fillTable } from "./support/fill-table.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable, deleteRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

const MIB = 1024 * 1024;
const ROWS = 2_000;

let harness: Harness;
let directory: string;

beforeAll(async () => {
  harness = await startHarness();
  directory = await mkdtemp(join(tmpdir(), "spill-"));
});
afterAll(async () => {
  await harness.close();
  await rm(directory, { recursive: true });
});

/** A process that has no memory to keep columns in, its tables, and what its metrics say. */
async function startSpilling(options: { bytesMax?: number; rowsMin?: number } = {}) {
  const metricsRegistry = new Registry();
  const spill = { directory, bytesMax: 64 * MIB, ...options };
  const service = await harness.start({ cacheBytesMax: 1, threads: 1, spill, metricsRegistry });
  const clients = harness.connect(service);
  const figure = async (series: string): Promise<number> => {
    // The thread is asked for its figures, and tells what has happened before it answers.
    await metricsRegistry.metrics();
    const line = (await metricsRegistry.metrics())
      .split("\n")
      .find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };
  const outcome = (name: string) => figure(`tables_spill_total{outcome="${name}"}`);
  return {
    figure,
    outcome,
    diskBytes: () => figure('tables_spill_bytes{thread="0"}'),
    loads: () => figure('tables_cache_columns_total{outcome="load"}'),
    /** Until so many columns and tables are on disk. */
    saved: (count: number) => waitFor(async () => (await outcome("saved")) >= count),
    async makeTable(identity = newIdentity(), rows = ROWS): Promise<RowTable> {
      const table = await createRowTable(harness, identity, { maxRows: 100_000 });
      await fillTable(harness, table.tableId, { rows, prefix: "n", repeats: 1 });
      return table.at(clients);
    },
  };
}

const lowest = { sort: "amount", show: "amount", limit: 3 };
const highest = { ...lowest, descending: true };

describe("columns for which memory has no room", () => {
  it("come back from disk instead of the database, table by table", async () => {
    const process = await startSpilling();
    const tables = [await process.makeTable(), await process.makeTable()];
    for (const table of tables) await table.query(lowest);
    await process.saved(4);
    const loads = await process.loads();
    for (const table of tables) {
      expect(await table.query(lowest)).toEqual({ values: [0, 1, 2], total: ROWS });
      expect((await table.query(highest)).values).toEqual([ROWS - 1, ROWS - 2, ROWS - 3]);
    }
    expect(await process.loads()).toBe(loads);
    expect(await process.outcome("restored")).toBeGreaterThan(0);
    expect(await process.diskBytes()).toBeGreaterThan(0);
  });

  it("catch up with what was written meanwhile by others", async () => {
    const process = await startSpilling();
    const table = await process.makeTable();
    await table.query(lowest);
    await process.saved(2);
    const loads = await process.loads();
    // Through the other process.
    const elsewhere = table.at(harness);
    await elsewhere.insert({ amount: -5 });
    await elsewhere.insert({ amount: 1e6 });
    expect(await table.query(lowest)).toEqual({ values: [-5, 0, 1], total: ROWS + 2 });
    expect((await table.query(highest)).values).toEqual([1e6, ROWS - 1, ROWS - 2]);
    expect(await process.loads()).toBe(loads);
  });

  it("are given up with the table", async () => {
    const process = await startSpilling();
    const table = await process.makeTable();
    await table.query(lowest);
    await process.saved(2);
    await deleteRowTable(harness, table.tableId);
    await expect(table.query(lowest)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await waitFor(async () => (await process.diskBytes()) === 0);
  });

  it("are read from the database when the table is small", async () => {
    const process = await startSpilling();
    const table = await process.makeTable(newIdentity(), 999);
    await table.query(lowest);
    await table.query(lowest);
    expect(await process.loads()).toBe(2);
    expect(await process.diskBytes()).toBe(0);
  });

  it("are read from the database when the disk has not kept them", async () => {
    const process = await startSpilling();
    const table = await process.makeTable();
    await table.query(lowest);
    await process.saved(2);
    const loads = await process.loads();
    for (const file of await spillFiles())
      await writeFile(file, Buffer.alloc(MIB, 7), { flag: "r+" });
    expect(await table.query(lowest)).toEqual({ values: [0, 1, 2], total: ROWS });
    expect(await process.loads()).toBe(loads + 1);
    expect(await process.outcome("failed")).toBeGreaterThan(0);
    expect(harness.logged()).toContain("The disk has not kept what was written.");
  });

  it("make room on disk for others, those first of who has most", async () => {
    const process = await startSpilling({ bytesMax: MIB });
    const modest = await process.makeTable();
    await modest.query(lowest);
    await process.saved(2);
    const greedy = newIdentity();
    for (let count = 1; count <= 12; count += 1) {
      const table = await process.makeTable(greedy);
      await table.query(lowest);
      await process.saved(2 + 2 * count);
    }
    expect(await process.outcome("evicted")).toBeGreaterThan(0);
    const loads = await process.loads();
    expect((await modest.query(lowest)).values).toEqual([0, 1, 2]);
    expect(await process.loads()).toBe(loads);
    expect(await process.diskBytes()).toBeLessThanOrEqual(MIB);
  });
});

describe("the directory for them", () => {
  it("holds no file that has a name", async () => {
    const process = await startSpilling();
    const table = await process.makeTable();
    await table.query(lowest);
    await process.saved(2);
    expect(await readdir(directory)).toEqual([]);
  });

  it("is let go of when the service stops", async () => {
    const before = (await spillFiles()).length;
    const service = await harness.start({ threads: 2, spill: { directory, bytesMax: MIB } });
    await waitFor(async () => (await spillFiles()).length === before + 2);
    await service.stop();
    await waitFor(async () => (await spillFiles()).length === before);
  });

  it("ends the start when it cannot be made", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    const spill = { directory: join(file, "below"), bytesMax: MIB };
    await expect(harness.start({ spill })).rejects.toThrow(/TABLES_SPILL_DIR.*ENOTDIR/s);
    await rm(file);
  });
});

/** This process's own open files without a name in the directory, as Linux shows them. */
async function spillFiles(): Promise<string[]> {
  const folder = "/proc/self/fd";
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const target = await readlink(join(folder, name)).catch(() => "");
    if (target.startsWith(directory)) found.push(join(folder, name));
  }
  return found;
}
