import { importTable, fetchText, getRequest, postRequest } from "../rest.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { makeRows } from "../table-rows.ts";

const ROUNDS = 3;

export const tableImport: Scenario = {
  id: "p",
  title: "Data table import",
  method:
    "A table is imported in one request, and exported; the reads after it are the first ones of their " +
    "kind, for which columns have to be brought into memory.",
  async measure({ system, sizes }) {
    const rows = makeRows(sizes.tableRows);
    const rounds: Record<string, number>[] = [];
    for (let round = 0; round < Math.min(ROUNDS, sizes.rounds); round += 1) {
      const [table, importMs] = await timed(() => importTable(system, `Import ${round}`, rows));
      const query = (body: unknown) =>
        timed(() => fetchText(postRequest(system, `/tables/${table}/rows/query`, body)));
      const [, firstPageMs] = await query({});
      const [, coldFilterMs] = await query({
        filter: { amount: { condition: { operator: "greater_than", value: 900_000 } } },
      });
      const [, coldTextMs] = await query({ sort: "name" });
      const [, exportMs] = await timed(() =>
        fetchText(getRequest(system, `/tables/${table}/rows/export?format=jsonl`)),
      );
      rounds.push({ importMs, firstPageMs, coldFilterMs, coldTextMs, exportMs });
    }
    const figure = (name: string, column: string, atMost?: number): Figure => ({
      name,
      value: medianOf(rounds, (round) => round[column] ?? Number.NaN),
      unit: "ms",
      ...(atMost === undefined ? {} : { target: { atMost } }),
    });
    return {
      figures: [
        figure("import", "importMs", 6_000),
        figure("first page after it", "firstPageMs"),
        figure("first filter by a number", "coldFilterMs"),
        figure("first order by a text", "coldTextMs"),
        figure("export", "exportMs"),
      ],
      rounds,
    };
  },
};

async function timed<Result>(action: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  const result = await action();
  return [result, performance.now() - startedAt];
}
