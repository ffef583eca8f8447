import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import type { Column as TableColumn, Row, RowQuery } from "@workflow/client";
import { act, examples } from "../../action.ts";
import { readObjectArgument } from "../../input.ts";
import { count } from "../../options.ts";
import { showList } from "../../output/list.ts";
import type { Column } from "../../output/list.ts";
import { time } from "../../output/output.ts";
import { findTable, TABLE_ARGUMENT } from "./find-table.ts";

/** The longest text of a cell, in characters. */
const CELL_MAX = 40;

/** Adds `tables list`. */
export function addList(parent: Command): void {
  parent
    .command("list")
    .description("List the tables, the newest first")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, { limit, all }) => {
        const client = await connect();
        await showList(out, client.tables.list(), {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            { title: "rows", of: ({ rowCount }) => String(rowCount) },
            { title: "columns", of: ({ columns }) => String(columns.length) },
            { title: "changed", of: ({ updatedAt }) => time(updatedAt) },
            { title: "name", of: ({ name }) => name },
          ],
        });
      }),
    );
}

/** Adds `tables rows`. */
export function addRows(parent: Command): void {
  parent
    .command("rows")
    .description("Show rows of a table")
    .argument("<table>", TABLE_ARGUMENT)
    .option("--filter <json>", "which rows, by column id: JSON, @file, or - for standard input")
    .option("--sort <column>", "id of the column to sort by")
    .addOption(
      new Option("--order <way>", "which way --sort goes").choices(["asc", "desc"] as const),
    )
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText(
      "after",
      `\n--all asks for a page after the other; rows that others add or delete meanwhile may be missed or come twice.
For all rows as they are at one moment: workflowctl tables export.\n${examples(
        `workflowctl tables rows Orders --filter '{"total":{"condition":{"operator":"greater_than","value":100}}}'`,
      )}`,
    )
    .action(
      act(async ({ out, connect }, given, { filter, sort, order, limit, all }) => {
        const client = await connect();
        const table = await findTable(client, given);
        const query: RowQuery = {
          limit: all === true ? 100 : Math.min(limit ?? 50, 100),
          ...(sort === undefined ? {} : { sort }),
          ...(order === undefined ? {} : { order }),
          ...(filter === undefined ? {} : { filter: await readFilter(filter) }),
        };
        const rows = client.rows.query(table.id, query);
        await showList(out, rows, { options: { limit, all }, columns: columnsOf(table.columns) });
      }),
    );
}

/** The server checks the filter. */
async function readFilter(option: string): Promise<NonNullable<RowQuery["filter"]>> {
  const filter: unknown = await readObjectArgument("--filter", option);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return filter as NonNullable<RowQuery["filter"]>;
}

function columnsOf(columns: readonly TableColumn[]): Column<Row>[] {
  return [
    { title: "id", of: ({ id }) => id },
    ...columns.map(({ id, name }) => ({ title: name, of: ({ data }: Row) => cellOf(data[id]) })),
  ];
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > CELL_MAX ? `${text.slice(0, CELL_MAX - 1)}…` : text;
}
