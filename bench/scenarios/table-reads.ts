import { alternate } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import type { LoadRequest } from "../load-protocol.ts";
import { importTable, postRequest } from "../rest.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { makeRows } from "../table-rows.ts";

const PAGE = 50;
const RATIO = 2;
const INSENSITIVE = "charlie golf 77";

export const tableReads: Scenario = {
  id: "n",
  title: "Data table reads",
  method:
    "One connection reads a table of 8 columns, in turn with a floor that holds the same rows: " +
    "hand-written SQL on typed columns with an index for each question, behind Node's own HTTP " +
    `server. Pages hold ${PAGE} rows and the total.`,
  async measure({ system, load, sizes, scope }) {
    const { tableRows } = sizes;
    const table = await importTable(system, "Reads", makeRows(tableRows));
    const floor = await startFloor(scope, system, "tables-floor.ts", String(tableRows));
    const deep = Math.floor(tableRows * 0.9);
    const query = (body: unknown): LoadRequest =>
      postRequest(system, `/tables/${table}/rows/query`, body);
    const figures: Figure[] = [];
    const compare = async (name: string, request: LoadRequest, path: string, atMost?: number) => {
      const pairs = await alternate({
        load,
        sizes: { ...sizes, pairs: Math.ceil(sizes.pairs / 2), pairRoundMs: 1_500, warmUpMs: 1_500 },
        connections: 1,
        system: { pid: system.pid, request },
        floor: { pid: floor.pid, request: { url: floor.url + path, method: "GET", headers: {} } },
      });
      figures.push(
        {
          name: `${name}, p50`,
          value: medianOf(pairs, (pair) => pair.system.p50Ms),
          unit: "ms",
          ...(atMost === undefined ? {} : { target: { atMost } }),
        },
        {
          name: `${name}, beside the floor`,
          value: medianOf(pairs, (pair) => pair.system.p50Ms / pair.floor.p50Ms),
          unit: "× floor",
          target: { atMost: RATIO },
        },
      );
    };
    await compare("first page", query({}), "/page", 5);
    for (const above of [990_000, 900_000, 500_000]) {
      const request = query({ filter: openAbove(above), sort: "amount" });
      await compare(`select and number > ${above}`, request, `/filter?above=${above}`, 6);
    }
    for (const [label, text] of [
      ["rare", INSENSITIVE],
      ["7 %", "charlie"],
    ] as const) {
      const request = query({
        filter: { name: { condition: { operator: "contains", value: text } } },
      });
      await compare(
        `contains, ${label}`,
        request,
        `/contains?text=${encodeURIComponent(text)}`,
        10,
      );
    }
    const distinct = postRequest(system, `/tables/${table}/columns/status/values/query`, {});
    await compare("distinct values of a select", distinct, "/distinct", 8);
    await compare("page behind 90 %", query({ offset: deep }), `/deep?offset=${deep}`, 15);
    return { figures, rounds: [] };
  },
};

function openAbove(amount: number): unknown {
  return {
    status: { condition: { operator: "equals", value: "OPEN" } },
    amount: { condition: { operator: "greater_than", value: amount } },
  };
}
