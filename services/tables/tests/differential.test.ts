import { describe, expect, it } from "@jest/globals";
import { askEngine, askOracle } from "./support/ask-engine.ts";
import { MemoryTable } from "./support/memory-table.ts";
import { randomQuery } from "./support/random-query.ts";
import type { RandomQuery } from "./support/random-query.ts";
import { randomChange, randomTable } from "./support/random-table.ts";
import { createRandom } from "./support/random-values.ts";
import { show } from "./support/show.ts";
import { shrink } from "./support/shrink.ts";

/** Set DIFFERENTIAL_SEED and DIFFERENTIAL_CASES for other, and more, cases. */
const SEED = Number(process.env["DIFFERENTIAL_SEED"] ?? 6);
const CASES = Number(process.env["DIFFERENTIAL_CASES"] ?? 20_000);
const QUERIES_PER_TABLE = 25;

describe(`filter, order, paging, distinct values and aggregates (seed ${SEED})`, () => {
  it(
    `answer ${CASES} random questions as an oracle does, while the table changes`,
    () => {
      const random = createRandom(SEED);
      let asked = 0;
      while (asked < CASES) {
        const table = randomTable(random);
        for (let query = 0; query < QUERIES_PER_TABLE; query += 1, asked += 1) {
          while (random.chance(0.5)) randomChange(random, table);
          const question = randomQuery(random, {
            columns: table.columns,
            values: table.rows.map(({ data }) => data),
          });
          if (!isRight(table, question)) throw new Error(explain(table, question, asked));
        }
      }
      expect(asked).toBeGreaterThanOrEqual(CASES);
    },
    CASES * 10,
  );
});

function isRight(table: MemoryTable, query: RandomQuery): boolean {
  return JSON.stringify(answerOf(table, query)) === JSON.stringify(askOracle(table, query));
}

/** A refusal and a crash are wrong answers too. */
function answerOf(table: MemoryTable, query: RandomQuery): unknown {
  try {
    return askEngine(table, query);
  } catch (error) {
    return { error: error instanceof Error ? error.stack : error };
  }
}

function explain(table: MemoryTable, query: RandomQuery, asked: number): string {
  const whole = { columns: table.columns, data: table.rows.map(({ data }) => data), query };
  const smallest = shrink(whole, (candidate) => {
    return !isRight(new MemoryTable(candidate.columns, candidate.data), candidate.query);
  });
  const shown = smallest ?? whole;
  const shownTable = smallest === null ? table : new MemoryTable(shown.columns, shown.data);
  return [
    `Seed ${SEED}, case ${asked}: ${smallest === null ? "fails only after changes" : "shrunk"}`,
    `columns ${show(shown.columns)}`,
    `query   ${show(shown.query)}`,
    ...shown.data.map((data, index) => `row ${index}   ${show(data)}`),
    `engine  ${show(answerOf(shownTable, shown.query))}`,
    `oracle  ${show(askOracle(shownTable, shown.query))}`,
  ].join("\n");
}
