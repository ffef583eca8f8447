import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { makeTable, rowsOf } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

describe("a page of the largest rows", () => {
  it("is answered, although it is beyond what messages have by default", async () => {
    const { id } = await makeTable(system, system.acme.key);
    const data = JSON.stringify({ name: "x".repeat(1_000_000) });
    for (let batch = 0; batch < 10; batch += 1) {
      const raw = `{"insert":[${Array(7).fill(`{"data":${data}}`).join(",")}]}`;
      const { status } = await system.call("POST", `/tables/${id}/rows/batch`, { raw });
      expect(status).toBe(200);
    }
    // 70 MB may take longer than callers wait, on a machine that has other work to do.
    const page = await waitFor(
      async () => {
        const body = { limit: 100 };
        const answer = await system.call("POST", `/tables/${id}/rows/query`, { body });
        return answer.status === 503 ? null : answer;
      },
      { timeoutMs: 150_000 },
    );
    expect(page.status).toBe(200);
    const lengths = rowsOf(page).map((row) => String(row.data["name"]).length);
    expect(lengths).toEqual(Array(70).fill(1_000_000));
  });
});

describe("the largest of filters", () => {
  /** Values that are all written with three characters in a URL, for a JSON text of so many. */
  function filterOf(chars: number): string {
    const values = Array.from({ length: 499 }, (_, n) => `${n}`.padStart(3, "0") + "{".repeat(44));
    const filter = (last: string) =>
      JSON.stringify({ name: { values: [...values, last] }, more: { excludedValues: values } });
    return filter("{".repeat(chars - filter("").length));
  }

  it("has 50,000 characters in a query string as well", async () => {
    const columns = ["name", "more"].map((name) => ({ name, type: "text" }));
    const rows = [{ name: `007${"{".repeat(44)}` }, { name: "other" }];
    const { id } = await makeTable(system, system.acme.key, { columns, rows });
    const list = (filter: string) =>
      system.call("GET", `/tables/${id}/rows?filter=${encodeURIComponent(filter)}`);
    const most = filterOf(50_000);
    expect(most).toHaveLength(50_000);
    expect(encodeURIComponent(most).length).toBeGreaterThan(140_000);
    const found = rowsOf(await list(most));
    expect(found.map(({ data }) => data)).toEqual([rows[0]]);
    expect(await list(filterOf(50_001))).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });
});
