import { openDatabase, sql } from "@workflow/db";
import { z } from "zod";
import { repeat, tally } from "../support/client.ts";
import type { Reply } from "../support/client.ts";
import type { Greed, GreedCase } from "../support/greed-case.ts";

const STEPS = [{ id: "note", type: "transform", name: "note", config: { mapping: "{{input}}" } }];

const SCHEDULES = { short: 25, full: 5_000 };
const WIDTH = 16;
const FIRED_MS = { short: 2_000, full: 60_000 };

/** Schedules that are all due at the same moment. */
export const schedules: GreedCase = {
  id: "schedules",
  title: "5,000 schedules of one minute, due at once",
  timeMs: { short: 10_000, full: 90_000 },
  async prepare({ client, form, signal }) {
    const trigger = { type: "schedule", interval: { value: 1, unit: "minutes" } };
    await repeat({ times: SCHEDULES[form], width: WIDTH, signal }, (index) =>
      client.activate(`Minute ${index}`, STEPS, { trigger }),
    );
  },
  async run({ client, databaseUrl, form, rest }) {
    const database = await openDatabase({ connectionUri: databaseUrl, applicationName: "greed" });
    try {
      await database.query(sql.type(z.object({}))`
        update runs.schedules set next_run_at = now() where next_run_at is not null
      `);
      await rest(FIRED_MS[form]);
      const { fired } = await database.one(sql.type(z.object({ fired: z.number() }))`
        select count(*) as fired from runs.schedules where run_count > 0
      `);
      return `${fired} of ${SCHEDULES[form]} have fired`;
    } finally {
      await database.end();
      await archiveAll({ client });
    }
  },
};

const TABLES = { short: 10, full: 1_000 };
const ROWS = { short: 3, full: 20 };

/** Rows of many tables that each start a workflow. */
export const tableEvents: GreedCase = {
  id: "table-events",
  title: "row events of 1,000 tables, twenty each",
  timeMs: { short: 8_000, full: 120_000 },
  async prepare({ client, form, signal }) {
    const columns = [{ id: "name", name: "Name", type: "text" }];
    tables.length = 0;
    await repeat({ times: TABLES[form], width: WIDTH, signal }, async (index) => {
      const body = { name: `Events ${index}`, columns, rowEvents: true };
      const tableId = String((await client.must("POST", "/tables", body)).data["id"]);
      await client.activate(`On ${index}`, STEPS, { trigger: { type: "table", tableId } });
      tables.push(tableId);
    });
  },
  async run({ client, form, rest, signal }) {
    const replies: Reply[] = [];
    const times = TABLES[form] * ROWS[form];
    await repeat({ times, width: WIDTH * 2, signal }, async (index) => {
      const body = { data: { name: `row ${index}` } };
      const tableId = tables[index % tables.length] ?? "";
      replies.push(await client.call("POST", `/tables/${tableId}/rows`, body));
    });
    await rest(1_000);
    await archiveAll({ client });
    return `rows ${tally(replies)}`;
  },
};

/** The tables that are prepared. */
const tables: string[] = [];

const listed = z.array(z.object({ id: z.string() }));

/** Takes every workflow of the company out of use. */
async function archiveAll({ client }: Pick<Greed, "client">): Promise<void> {
  for (;;) {
    const { items } = await client.must("GET", "/workflows?limit=100&status=active");
    const workflows = listed.parse(items);
    if (workflows.length === 0) return;
    const signal = new AbortController().signal;
    await repeat({ times: workflows.length, width: WIDTH, signal }, (index) =>
      client.call("DELETE", `/workflows/${workflows[index]?.id}`),
    );
  }
}
