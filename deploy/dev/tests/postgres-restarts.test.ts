import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findLocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import pino from "pino";
import { startEmbeddedPostgres } from "../src/postgres.ts";
import type { EmbeddedPostgres } from "../src/postgres.ts";
import { cleanUp, postgresProcesses, postmasterOf, temporaryFolder } from "./support/system.ts";

/** A stop that takes longer than this is one that waits for nothing. */
const STOP_MS = 60_000;
const TIMEOUT_MS = 120_000;

let dataDir: string;

beforeAll(async () => {
  dataDir = join(await temporaryFolder(), "data");
  await (await start()).stop();
}, TIMEOUT_MS);

afterAll(cleanUp);

function start(): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir,
    connectionsMax: 10,
    logger: pino({ enabled: false }),
    signal: new AbortController().signal,
  });
}

/** What the server that follows a killed one says of itself; empty before it has said anything. */
async function wordsOfNext(killed: number): Promise<string> {
  const text = await readFile(join(dataDir, "pgdata/postmaster.pid"), "utf8").catch(() => "");
  return text.startsWith(`${killed}\n`) ? "" : text;
}

/** Looks as often as it can, as the moments that are looked for are short. */
async function until(test: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + STOP_MS;
  while (!(await test())) {
    if (Date.now() > deadline) throw new Error("The moment has not come.");
    await setImmediate();
  }
}

describe("a Postgres that was killed", () => {
  const moments: [moment: string, isReached: (killed: number) => Promise<boolean>][] = [
    ["at once", () => Promise.resolve(true)],
    ["while the next one is on its way up", async (pid) => (await wordsOfNext(pid)) !== ""],
    ["when the next one is ready", async (pid) => (await wordsOfNext(pid)).includes("ready")],
  ];

  it.each(moments)(
    "can be stopped %s",
    async (_moment, isReached) => {
      const postgres = await start();
      const killed = await postmasterOf(dataDir);
      process.kill(killed, "SIGKILL");
      await until(() => isReached(killed));
      let isStopped = false;
      const stopped = postgres.stop().then(() => (isStopped = true));
      await waitFor(() => isStopped, { what: "the stop", timeoutMs: STOP_MS });
      await stopped;
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "comes back at the same address, also when it is killed again and again on its way",
    async () => {
      const postgres = await start();
      let isLost = false;
      postgres.lost.catch(() => (isLost = true));
      for (let kills = 0; kills < 4; kills += 1) {
        const pid = await postmasterOf(dataDir);
        process.kill(pid, "SIGKILL");
        await waitFor(async () => (await wordsOfNext(pid)) !== "", { what: "the next server" });
      }
      await waitFor(async () => (await wordsOfNext(0)).includes("ready"), { what: "a ready one" });
      expect(isLost).toBe(false);
      const { connectionUri } = postgres;
      await waitFor(async () => (await findLocalPostgres(dataDir)) !== null);
      expect(await findLocalPostgres(dataDir)).toEqual({ connectionUri });
      await postgres.stop();
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
