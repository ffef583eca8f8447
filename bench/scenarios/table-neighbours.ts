import { z } from "zod";
import { startLoad } from "../load-client.ts";
import { fetchText, importTable, postRequest } from "../rest.ts";
import type { Scenario, Surroundings } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { makeRows } from "../table-rows.ts";

const ROWS = 1_000;
const WRITERS = 30;
const READERS = 8;
/** The other companies go on this much longer than the measured one. */
const LONGER_MS = 500;

const page = z.object({ data: z.array(z.object({ id: z.uuid() })) });
const QUERY = { filter: { status: { values: ["open"] } }, sort: "amount", limit: 20 };

export const tableNeighbours: Scenario = {
  id: "ab",
  title: "A data table beside another company's",
  method:
    `Filtered, sorted pages over one connection: alone; and while another company's ${WRITERS} connections replace ` +
    `rows of one table of ${ROWS} rows and its ${READERS} read pages of it, each as fast as it is answered.`,
  async measure(surroundings) {
    const { sizes } = surroundings;
    const { canary, busy } = await prepare(surroundings);
    await canary(sizes.warmUpMs);
    const rounds = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const alone = await canary(sizes.roundMs);
      const others = busy(sizes.roundMs + LONGER_MS);
      const beside = await canary(sizes.roundMs);
      const [writes, reads] = await others;
      rounds.push({ alone, beside, writes, reads });
    }
    return {
      figures: [
        { name: "p50 alone", value: medianOf(rounds, ({ alone }) => alone.p50Ms), unit: "ms" },
        {
          name: "p50 beside",
          value: medianOf(rounds, ({ beside }) => beside.p50Ms),
          unit: "ms",
          target: { atMost: 2 * medianOf(rounds, ({ alone }) => alone.p50Ms) },
        },
        { name: "p99 beside", value: medianOf(rounds, ({ beside }) => beside.p99Ms), unit: "ms" },
        {
          name: "their writes",
          value: medianOf(rounds, ({ writes }) => writes.perSecond),
          unit: "/s",
        },
        {
          name: "their reads",
          value: medianOf(rounds, ({ reads }) => reads.perSecond),
          unit: "/s",
        },
      ],
      rounds: rounds.map(({ alone, beside, writes, reads }) => ({
        "alone p50 ms": alone.p50Ms,
        "beside p50 ms": beside.p50Ms,
        "beside p99 ms": beside.p99Ms,
        "writes /s": writes.perSecond,
        "reads /s": reads.perSecond,
      })),
    };
  },
};

async function prepare({ system, load, scope }: Surroundings) {
  const modest = { ...system, apiKey: await system.addCompany("modest-table") };
  const rows = makeRows(ROWS);
  const own = await importTable(modest, "Modest", rows);
  const theirs = await importTable(system, "Busy", rows);
  const query = postRequest(system, `/tables/${theirs}/rows/query`, QUERY);
  const all = postRequest(system, `/tables/${theirs}/rows/query`, { limit: WRITERS });
  const { data } = page.parse(JSON.parse(await fetchText(all)));
  const variety = data.map(({ id }, place) =>
    postRequest(system, `/tables/${theirs}/rows/batch`, { update: [{ id, data: rows[place] }] }),
  );
  const [writing, reading] = [startLoad(scope), startLoad(scope)];
  return {
    canary: (ms: number) =>
      load({
        model: "closed",
        request: postRequest(modest, `/tables/${own}/rows/query`, QUERY),
        connections: 1,
        stop: { afterMs: ms },
      }),
    busy: (ms: number) => {
      const stop = { afterMs: ms };
      const write = {
        model: "closed",
        request: query,
        variety,
        connections: WRITERS,
        stop,
      } as const;
      const read = { model: "closed", request: query, connections: READERS, stop } as const;
      return Promise.all([writing(write), reading(read)]);
    },
  };
}
