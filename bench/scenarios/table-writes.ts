import { alternate, pairRows } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { importTable, postRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { makeRows } from "../table-rows.ts";

const CONNECTIONS = 16;
/** Few enough rows to leave room for inserts; a table may have 100,000. */
const ROWS = 1_000;
const PAIRS = 5;
const ROUND_MS = 1_500;

export const tableWrites: Scenario = {
  id: "o",
  title: "Data table writes",
  method:
    `Single rows are inserted over ${CONNECTIONS} connections, in turn with a floor that inserts the ` +
    "same row into a typed, indexed table of its own behind Node's own HTTP server.",
  async measure({ system, load, sizes, scope }) {
    const table = await importTable(system, "Writes", makeRows(ROWS));
    const floor = await startFloor(scope, system, "tables-floor.ts", String(ROWS));
    const [row] = makeRows(1);
    const request = postRequest(system, `/tables/${table}/rows`, { data: row });
    const pairs = await alternate({
      load,
      sizes: {
        ...sizes,
        pairs: Math.min(PAIRS, sizes.pairs),
        pairRoundMs: ROUND_MS,
        warmUpMs: ROUND_MS,
      },
      connections: CONNECTIONS,
      system: { pid: system.pid, request },
      floor: { pid: floor.pid, request: { ...request, url: `${floor.url}/rows` } },
    });
    return {
      figures: [
        {
          name: "inserts",
          value: medianOf(pairs, (pair) => pair.system.perSecond),
          unit: "/s",
          target: { atLeast: 2_000 },
        },
        {
          name: "inserts, beside the floor",
          value: medianOf(pairs, (pair) => pair.system.perSecond / pair.floor.perSecond),
          unit: "× floor",
        },
        { name: "p50", value: medianOf(pairs, (pair) => pair.system.p50Ms), unit: "ms" },
        { name: "p99", value: medianOf(pairs, (pair) => pair.system.p99Ms), unit: "ms" },
      ],
      rounds: pairRows(pairs),
    };
  },
};
