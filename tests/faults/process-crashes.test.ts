import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { ProcessName, SeparateSystem } from "../support/separate-system.ts";
import { prepareMixedLoad } from "./support/mixed-load.ts";
import type { MixedLoad } from "./support/mixed-load.ts";
import { LONG, RUNS_PER_ROUND, ROUNDS } from "./support/length.ts";
import { startReceiver } from "./support/receiver.ts";

const scope = createScope();
let system: SeparateSystem;
let load: MixedLoad;

beforeAll(async () => {
  const receiver = await startReceiver();
  scope.defer(() => receiver.close());
  system = await startSeparateSystem({ secondWorker: true });
  scope.defer(() => system.stop());
  load = await prepareMixedLoad(system, receiver);
  scope.defer(() => load.close());
});
afterAll(() => scope.close());

/** Kills a process and starts it again a while later. */
async function crash(name: ProcessName): Promise<void> {
  await system.kill(name, "SIGKILL");
  await sleep(200 + Math.random() * 500);
  await system.start(name);
}

describe("under a mixed load", () => {
  it(
    "kill -9 of workers, API, control plane and gateway loses, repeats and changes nothing",
    async () => {
      const victims = ["runs-worker", "runs-api", "runs-worker-2", "gateway", "workflows"] as const;
      for (let round = 0; round < ROUNDS; round += 1) {
        const starts = load.start(RUNS_PER_ROUND, 5_000);
        for (const victim of victims) {
          await sleep(300 + Math.random() * 500);
          await crash(victim);
        }
        await starts;
      }
      await system.waitUntilReady();
      await load.expectTwins();
    },
    LONG,
  );

  it(
    "kill -9 of Postgres and its orderly restart lose, repeat and change nothing",
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const starts = load.start(RUNS_PER_ROUND, 5_000);
        for (const how of ["SIGKILL", "orderly"] as const) {
          await sleep(1_000 + Math.random() * 500);
          await system.stopPostgres(how);
          await sleep(500);
          await system.startPostgres();
        }
        await starts;
      }
      await system.waitUntilReady();
      await load.expectTwins();
    },
    LONG,
  );

  it(
    "a worker that freezes beyond its lease and comes back changes nothing",
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const starts = load.start(RUNS_PER_ROUND, 4_000);
        for (const victim of ["runs-worker", "runs-worker-2"] as const) {
          await sleep(500);
          await system.kill(victim, "SIGSTOP");
          await sleep(2_500);
          await system.kill(victim, "SIGCONT");
        }
        await starts;
      }
      await load.expectTwins();
    },
    LONG,
  );
});
