import { stripVTControlCharacters } from "node:util";
import type { List } from "@workflow/client";
import { plain } from "./output.ts";
import type { Output } from "./output.ts";

/** A column of a table for people. */
export interface Column<Item> {
  title: string;
  /** The text of a cell. Foreign text is made plain here, unless the column has painted it. */
  of: (item: Item) => string;
  /** Adds colour to the plain text. */
  paint?: (text: string) => string;
}

/** How many items of a list are shown. */
export interface ListOptions {
  /** True shows all items, in as many requests as that takes. */
  all?: boolean | undefined;
  /** The highest number of items; 50 by default. */
  limit?: number | undefined;
}

const SHOWN = 50;

/** Shows a list: as tables page by page, or as one JSON array. A note says when there is more. */
export async function showList<Item, Meta>(
  out: Output,
  list: List<Item, Meta>,
  shown: { columns: readonly Column<Item>[]; options: ListOptions },
): Promise<void> {
  const { columns, options } = shown;
  const max = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? SHOWN);
  const gathered: Item[] = [];
  let count = 0;
  let isCut = false;
  for await (const page of list.pages()) {
    const items = page.items.slice(0, max - count);
    isCut = count + page.items.length > max || (items.length === 0 && page.items.length > 0);
    if (out.isJson) gathered.push(...items);
    else if (items.length > 0) showTable(out, items, { columns, head: count === 0 });
    count += items.length;
    if (isCut) break;
    if (count >= max) {
      isCut = hasMore(page.meta);
      break;
    }
  }
  if (out.isJson) out.json(gathered);
  if (!out.isJson && count === 0) out.note("There are none.");
  if (isCut) out.note(`These are the first ${count}; --all shows every one.`);
}

/** Shows items in columns; with titles when `head` is true. */
export function showTable<Item>(
  out: Output,
  items: readonly Item[],
  { columns, head = true }: { columns: readonly Column<Item>[]; head?: boolean },
): void {
  const cells = items.map((item) => columns.map((column) => plain(column.of(item))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => widthOf(row[index] ?? ""))),
  );
  const lineOf = (row: readonly string[], paint: (text: string, index: number) => string): string =>
    row
      .map((text, index) => {
        const isLast = index === row.length - 1;
        const room = isLast ? "" : " ".repeat((widths[index] ?? 0) - widthOf(text));
        return paint(text, index) + room;
      })
      .join("  ")
      .trimEnd();
  if (head) {
    const titles = columns.map(({ title }) => title.toUpperCase());
    out.line(lineOf(titles, (text) => out.paint("bold", text)));
  }
  for (const row of cells) {
    out.line(lineOf(row, (text, index) => columns[index]?.paint?.(text) ?? text));
  }
}

/** The fields of one object, a line each. */
export function fieldLines(fields: Readonly<Record<string, string>>): string[] {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields).map(([name, text]) => `${`${name}:`.padEnd(width + 2)}${text}`);
}

function hasMore(meta: unknown): boolean {
  return meta instanceof Object && "hasMore" in meta && meta.hasMore === true;
}

function widthOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}
