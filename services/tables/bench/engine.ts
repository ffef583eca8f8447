import type { Column, ColumnType } from "../src/domain/column.ts";
import type { Condition, Filter } from "../src/domain/row-query.ts";
import {
  aggregateRows,
  createVector,
  listDistinct,
  selectRows,
  type RowSource,
  type Vector,
} from "../src/engine/index.ts";

/**
 * Processor time of queries in memory over 100,000 rows of 8 columns: `node services/tables/bench/engine.ts`.
 *
 * 2026-11-21, Node 24, 2 cores of a machine busy with other work (load 4 to 10), milliseconds a call:
 *
 * | query                                                | ms    | once after loading |
 * | ---------------------------------------------------- | ----- | ------------------ |
 * | number range and select equality, sorted by number   | 0.8   | 30                 |
 * | the same, first after a change of the number         | 1.7   |                    |
 * | contains in a text of 25 to 60 characters            | 3.1   | 10                 |
 * | page at 90,000 in the table's order                  | 0.002 |                    |
 * | first page sorted by text                            | 0.003 | 100                |
 * | the same, first after a change of a text             | 0.8   |                    |
 * | distinct of a select column                          | 0.4   |                    |
 * | distinct of 100,000 different texts                  | 0.08  |                    |
 * | the same with a search                               | 5     |                    |
 * | distinct of 100,000 different JSON objects           | 0.03  |                    |
 * | aggregate by select, 3 figures                       | 2.6   |                    |
 * | aggregate with 10,001 groups                         | 6     |                    |
 * | 20 clauses that search and leave most rows           | 60    |                    |
 * | append of a row to all 8 columns                     | 0.014 |                    |
 *
 * Sorting 100,000 texts once takes 95 (sentences), 55 (URLs that begin alike), 30 (Chinese), 80 (Cyrillic),
 * 400 (Hindi) and 500 (emoji), to compare all of them with the collator 350 and more.
 */
const ROWS = 100_000;
const WARMUP_ROUNDS = 10;
const ROUNDS_MAX = 5_000;
const MEASURED_MS = 300;
const OPTIONS = ["open", "in progress", "waiting", "closed", "archived", "draft", "spam", "won"];
const WORDS =
  "north river market invoice amber solid quick lantern Österreich paper garden violet copper Straße".split(
    " ",
  );

/** Repeatable numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = createRandom(6);
const pick = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? "";
const sentence = (units: number) => {
  let text = "";
  while (text.length < units) text += `${pick(WORDS)} ${Math.floor(random() * 1e4).toString(36)} `;
  return text.trim();
};

const column = (id: string, type: ColumnType, options?: readonly string[]): Column =>
  options === undefined ? { id, name: id, type } : { id, name: id, type, options };

const COLUMNS = {
  title: column("title", "text"),
  status: column("status", "select", OPTIONS),
  amount: column("amount", "number"),
  due: column("due", "date"),
  done: column("done", "boolean"),
  site: column("site", "url"),
  customer: column("customer", "text"),
  extra: column("extra", "json"),
};

const VALUES: Readonly<Record<string, (row: number) => unknown>> = {
  title: () => sentence(25 + random() * 35),
  status: () => pick(OPTIONS),
  amount: () => Math.round(random() * 1e6) / 100,
  due: () => new Date(1.6e12 + random() * 1e11).toISOString().slice(0, 10),
  done: () => random() < 0.5,
  site: (row) => `https://www.example.com/accounts/${row % 977}/${Math.floor(random() * 1e6)}`,
  customer: () => `Customer ${Math.floor(random() * 2_000)}`,
  extra: (row) => ({ z: row, a: [random() < 0.5, pick(WORDS)] }),
};

function createTable(): { source: RowSource; vectors: Map<string, Vector> } {
  const vectors = new Map<string, Vector>();
  for (const { id, type } of Object.values(COLUMNS)) {
    const values = Array.from({ length: ROWS }, (_, row) => VALUES[id]?.(row));
    const vector = createVector(type);
    const begin = processorMs();
    for (let row = 0; row < ROWS; row += 5_000) vector.append(values.slice(row, row + 5_000));
    print(`load ${id} (${type})`, processorMs() - begin, `${mebibytes(vector)} MiB`);
    vectors.set(id, vector);
  }
  const source: RowSource = {
    size: ROWS,
    liveCount: ROWS,
    isLive: () => true,
    vector: (key) => vectors.get(key) ?? createVector("any"),
  };
  return { source, vectors };
}

/** Time that this thread has been running; other programs on the machine do not count. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function mebibytes(vector: Vector): string {
  return (vector.bytes / 2 ** 20).toFixed(1);
}

function print(name: string, ms: number, remark = ""): void {
  process.stdout.write(`${ms.toFixed(3).padStart(9)} ms  ${name}  ${remark}\n`);
}

/**
 * Mean of as many calls as it takes for the clock of the processor, which ticks every few milliseconds, to
 * be right; the first one, which also compiles and sorts, is told beside it by the clock on the wall.
 */
function measure(name: string, work: () => unknown, prepare: () => void = () => {}): void {
  const begin = performance.now();
  work();
  const firstMs = performance.now() - begin;
  for (let round = 0; round < WARMUP_ROUNDS; round += 1) {
    prepare();
    work();
  }
  const before = processorMs();
  let rounds = 0;
  while (rounds < ROUNDS_MAX && processorMs() - before < MEASURED_MS) {
    prepare();
    work();
    rounds += 1;
  }
  print(name, (processorMs() - before) / rounds, `first ${firstMs.toFixed(1)}`);
}

const is = (of: Column, condition: Condition): Filter => [
  { kind: "column", column: of, condition },
];
const { title, status, amount, due, site, customer, extra, done } = COLUMNS;
const PAGE = { limit: 50, offset: 0 };
const by = (of: Column) => ({ column: of, descending: false });
const contains = (of: Column, value: string) => is(of, { on: "text", operator: "contains", value });

const { source, vectors } = createTable();
const rangeAndEquals: Filter = [
  ...is(amount, { on: "number", operator: "greater_than", value: 2_500 }),
  ...is(status, { on: "text", operator: "equals", value: "closed" }),
];
const change =
  ({ id }: Column) =>
  () =>
    vectors.get(id)?.set(Math.floor(random() * ROWS), VALUES[id]?.(7));

measure("number > and select =, sorted by number", () =>
  selectRows(source, { filter: rangeAndEquals, sort: by(amount), ...PAGE }),
);
measure(
  "the same after a change of the number",
  () => selectRows(source, { filter: rangeAndEquals, sort: by(amount), ...PAGE }),
  change(amount),
);
measure("contains, rare", () =>
  selectRows(source, { filter: contains(title, "LANTERN 9z"), sort: null, ...PAGE }),
);
measure("contains, one letter", () =>
  selectRows(source, { filter: contains(title, "e"), sort: null, ...PAGE }),
);
measure("contains, a word in a third", () =>
  selectRows(source, { filter: contains(title, "amber"), sort: null, ...PAGE }),
);
measure("equals, text", () =>
  selectRows(source, {
    filter: is(title, { on: "text", operator: "equals", value: "nowhere" }),
    sort: null,
    ...PAGE,
  }),
);
measure("list of 3 of a text column", () =>
  selectRows(source, {
    filter: [
      {
        kind: "column",
        column: title,
        list: { excluded: false, values: new Set(['"a"', '"b"', '"c"']), blanks: false },
      },
    ],
    sort: null,
    ...PAGE,
  }),
);
measure("page at 90,000, table order", () =>
  selectRows(source, { filter: [], sort: null, limit: 50, offset: 90_000 }),
);
for (const sorted of [title, site, customer, status, due, done, extra]) {
  measure(`sort by ${sorted.id}, warm`, () =>
    selectRows(source, { filter: [], sort: by(sorted), ...PAGE }),
  );
  measure(
    `sort by ${sorted.id}, after a change`,
    () => selectRows(source, { filter: [], sort: by(sorted), ...PAGE }),
    change(sorted),
  );
}
measure("sort by title descending, filtered by contains, page 20", () =>
  selectRows(source, {
    filter: contains(title, "amber"),
    sort: { column: title, descending: true },
    limit: 50,
    offset: 1_000,
  }),
);
for (const listed of [status, customer, title, amount, extra]) {
  measure(`distinct of ${listed.id}`, () =>
    listDistinct(source, { column: listed, filter: [], search: "", limit: 100 }),
  );
}
measure("distinct of title with search", () =>
  listDistinct(source, { column: title, filter: [], search: "amber", limit: 100 }),
);
measure("aggregate by status, 3 measures", () =>
  aggregateRows(source, {
    filter: [],
    groupBy: status,
    measures: [
      { function: "count", column: null },
      { function: "sum", column: amount },
      { function: "max", column: due },
    ],
  }),
);
measure("aggregate by amount, 10,001 groups", () =>
  aggregateRows(source, {
    filter: [],
    groupBy: amount,
    measures: [{ function: "count", column: null }],
  }),
);
measure("20 clauses that search and leave most rows", () =>
  selectRows(source, {
    filter: Array.from({ length: 20 }, (_, place) =>
      contains(title, "aeiou r"[place % 7] ?? ""),
    ).flat(),
    sort: null,
    ...PAGE,
  }),
);
measure("append of a row, all 8", () => {
  for (const [key, vector] of vectors) vector.append([VALUES[key]?.(1)]);
});
for (const [key, vector] of vectors) print(key, 0, `${mebibytes(vector)} MiB at the end`);
