import type { JsonObject } from "@workflow/json";
import { MemoryTable } from "./memory-table.ts";
import { randomColumns, randomData } from "./random-values.ts";
import type { Random } from "./random-values.ts";

/**
 * A table of a few rows; seldom of some thousand, and then with texts that mostly differ or mostly do
 * not: vectors keep them in other ways.
 */
export function randomTable(random: Random): MemoryTable {
  const columns = randomColumns(random);
  const kind = random.next();
  const spreads = kind < 0.005;
  const size = spreads ? 4_300 : kind < 0.012 ? 1_500 : 0;
  const rows = Array.from({ length: size + random.below(40) }, () => randomData(random, columns));
  return new MemoryTable(columns, spreads ? rows.map((data) => spread(random, data)) : rows);
}

/** Makes the texts of a row different from those of others. */
function spread(random: Random, data: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      typeof value === "string" && random.chance(0.95) ? value + random.below(1e9) : value,
    ]),
  );
}

/** Adds, changes, removes or compacts. */
export function randomChange(random: Random, table: MemoryTable): void {
  const index = random.below(Math.max(table.size, 1));
  const { columns } = table;
  switch (random.pick(["append", "append", "update", "update", "remove", "compact"] as const)) {
    case "append":
      table.append(Array.from({ length: random.below(4) }, () => randomData(random, columns)));
      break;
    case "update":
      // A reader that catches up may be told of a change of a row that is gone by then.
      table.update(index, randomData(random, columns));
      break;
    case "remove":
      table.remove(index);
      break;
    case "compact":
      if (random.chance(0.3)) table.compact();
      break;
  }
}
