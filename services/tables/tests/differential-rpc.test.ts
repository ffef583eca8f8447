import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { askOracle } from "./support/ask-engine.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { randomQuery } from "./support/random-query.ts";
import { createRandom } from "./support/random-values.ts";
import { RemoteTable } from "./support/remote-table.ts";
import { show } from "./support/show.ts";

/** Set DIFFERENTIAL_SEED and DIFFERENTIAL_ROUNDS for other, and more, rounds. */
const SEED = Number(process.env["DIFFERENTIAL_SEED"] ?? 6);
const ROUNDS = Number(process.env["DIFFERENTIAL_ROUNDS"] ?? 300);
const ROUNDS_PER_TABLE = 50;

let harness: Harness;
let processes: readonly Clients[];
let directory: string;

beforeAll(async () => {
  harness = await startHarness();
  // One that forgets columns as soon as it has used them, and one that has them on disk then.
  const forgetful = await harness.start({ cacheBytesMax: 1 });
  directory = await mkdtemp(join(tmpdir(), "spill-"));
  const spill = { directory, bytesMax: 64 * 1024 * 1024, rowsMin: 1 };
  const spilling = await harness.start({ cacheBytesMax: 1, spill });
  processes = [harness, harness.connect(forgetful), harness.connect(spilling)];
});
afterAll(async () => {
  await harness.close();
  await rm(directory, { recursive: true });
});

describe(`three processes of the service (seed ${SEED})`, () => {
  it(
    `answer ${ROUNDS} random questions as an oracle does, whichever of them wrote before`,
    async () => {
      const random = createRandom(SEED);
      for (let round = 0; round < ROUNDS;) {
        const table = await RemoteTable.create(harness, newIdentity(), random);
        for (let of = 0; of < ROUNDS_PER_TABLE && round < ROUNDS; of += 1, round += 1) {
          while (random.chance(0.6)) await table.change(random, random.pick(processes));
          const values = table.rows.map(({ data }) => data);
          const query = randomQuery(random, { columns: table.columns, values });
          const answer = await table.ask(random.pick(processes), query);
          const expected = askOracle(table, query);
          if (JSON.stringify(answer) === JSON.stringify(expected)) continue;
          throw new Error(
            [
              `Seed ${SEED}, round ${round}`,
              `columns ${show(table.columns)}`,
              `query   ${show(query)}`,
              ...table.rows.map(({ position, data }) => `row ${position}   ${show(data)}`),
              `service ${show(answer)}`,
              `oracle  ${show(expected)}`,
            ].join("\n"),
          );
        }
      }
      expect(ROUNDS).toBeGreaterThan(0);
    },
    // A limit for what hangs: a loaded machine needs 200 ms a round.
    ROUNDS * 1_000,
  );
});
