import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import { MemoryBudget } from "../src/memory/memory-budget.ts";
import { fillTable } from "./support/fill-table.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createRowTable, NUMBER, TEXT } from "./support/row-table.ts";

const MIB = 1024 * 1024;

let harness: Harness;
/** A process whose questions may use little memory. */
let small: Clients;

beforeAll(async () => {
  harness = await startHarness();
  small = harness.connect(await harness.start({ companyBytesMax: 4 * MIB }));
});
afterAll(() => harness.close());

/** Each row has 1,920 characters under `name`, so 3,000 rows have more than 5 MiB. */
const long = { rows: 3_000, prefix: "", repeats: 60 };

describe("a question whose columns take more memory than there is for one company", () => {
  it("is refused while they are read, and smaller ones of the same table are answered", async () => {
    const columns: Column[] = [TEXT, NUMBER];
    const table = await createRowTable(harness, newIdentity(), { columns });
    await fillTable(harness, table.tableId, long);
    const here = table.at(small);
    const byName = { sort: "name", show: "amount", limit: 1 };
    const error = await errorOf(here.query(byName));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.message).toContain("more than 4 MiB of memory");
    expect(error.details).toEqual({ limit: "tableMemory", maxBytes: 4 * MIB });
    const byAmount = { sort: "amount", descending: true, show: "amount", limit: 1 };
    expect(await here.query(byAmount)).toEqual({ values: [2_999], total: 3_000 });
    // A process with more memory has no such limit.
    expect((await table.query(byName)).total).toBe(3_000);
  });

  it("is told so, not to try again, where the rows' places take much of the memory", async () => {
    const tight = harness.connect(await harness.start({ companyBytesMax: MIB }));
    const table = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    await fillTable(harness, table.tableId, { rows: 60_000, prefix: "", repeats: 1 });
    const error = await errorOf(table.at(tight).query({ sort: "amount", show: "amount" }));
    expect([error.reason, error.details]).toEqual([
      "BAD_REQUEST",
      { limit: "tableMemory", maxBytes: MIB },
    ]);
  });

  it("takes no memory from others once it was refused", async () => {
    const table = await createRowTable(harness, newIdentity());
    await fillTable(harness, table.tableId, long);
    for (let round = 0; round < 3; round += 1) {
      const error = await errorOf(table.at(small).query({ sort: "name", show: "amount" }));
      expect(error.reason).toBe("BAD_REQUEST");
    }
    const other = await createRowTable(harness, newIdentity());
    await other.insertAll([{ name: "b" }, { name: "a" }]);
    const page = await other.at(small).query({ sort: "name", show: "name" });
    expect(page.values).toEqual(["a", "b"]);
  });
});

describe("memory for columns that several companies use", () => {
  const entryOf = (companyId: string, dropped: string[], name: string, inUse = false) => ({
    companyId,
    inUse,
    drop: () => void dropped.push(name),
  });

  it("is given back by whoever has more than its fair part, not by those who have less", () => {
    const dropped: string[] = [];
    const budget = new MemoryBudget(100, () => {});
    budget.use(entryOf("modest", dropped, "modest"), 30);
    for (let n = 0; n < 10; n += 1) {
      budget.use(entryOf("greedy", dropped, `greedy ${n}`), 20);
      budget.trim("greedy");
    }
    expect(dropped).toEqual(Array.from({ length: 7 }, (_, n) => `greedy ${n}`));
    expect(Object.fromEntries(budget.companyBytes())).toEqual({ modest: 30, greedy: 60 });
  });

  it("is given back by the largest when a company comes that has little", () => {
    const dropped: string[] = [];
    const budget = new MemoryBudget(100, () => {});
    budget.use(entryOf("new", dropped, "used longest ago"), 10);
    for (const name of ["first", "second"]) budget.use(entryOf("large", dropped, name), 40);
    budget.use(entryOf("new", dropped, "used last"), 20);
    budget.trim("new");
    expect(dropped).toEqual(["first"]);
    expect(budget.bytes).toBe(70);
  });

  it("stays with whoever uses it, and counts as in use", () => {
    const dropped: string[] = [];
    const budget = new MemoryBudget(100, () => {});
    budget.use(entryOf("large", dropped, "in use", true), 150);
    budget.use(entryOf("large", dropped, "idle"), 10);
    budget.trim("large");
    expect(dropped).toEqual(["idle"]);
    expect([budget.bytesInUse("large"), budget.bytesInUse()]).toEqual([150, 150]);
  });
});
