import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { waitFor } from "@workflow/testkit";
import { startNatsServer } from "../src/separate/nats-server.ts";
import { StartError } from "../src/start-error.ts";
import { cleanUp, exists, temporaryFolder } from "./support/system.ts";

const TIMEOUT_MS = 120_000;

let scope: Scope;
let told: string[];
beforeEach(() => {
  scope = createScope();
  told = [];
});
afterEach(() => scope.close(), TIMEOUT_MS);
afterAll(cleanUp, TIMEOUT_MS);

function start(folder: string, signal: AbortSignal = new AbortController().signal) {
  return startNatsServer({ folder, tell: (text) => void told.push(text), signal }, scope);
}

describe("the NATS server of npm run start:separate", () => {
  it(
    "keeps its streams in a folder of any name, and is started again with the reason when it ends",
    async () => {
      const folder = join(await temporaryFolder(), `my "own" \\ $HOME`);
      const server = await start(folder);
      expect(await exists(join(folder, "jetstream"))).toBe(true);

      const pid = server.pid();
      process.kill(pid ?? 0, "SIGKILL");
      await waitFor(() => told.length === 1, { what: "the line about the end" });
      expect(told[0]).toMatch(
        /^The NATS server has ended by itself \(.+\)\. It is started again in/,
      );
      await waitFor(() => server.pid() !== undefined, { what: "the next server" });
      expect(server.pid()).not.toBe(pid);
    },
    TIMEOUT_MS,
  );

  it(
    "says in its own words why it cannot start, and is not tried again",
    async () => {
      const folder = join(await temporaryFolder(), "nats");
      await mkdir(folder);
      // In the way of the folder that it makes for streams.
      await writeFile(join(folder, "jetstream"), "");
      const refusal: unknown = await start(folder).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(StartError);
      expect(String(refusal)).toMatch(/The NATS server did not start \(.*jetstream.*\)/i);
      expect(told).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it("gives up its start when that is asked for", async () => {
    const reason = new Error("Ctrl-C");
    const folder = join(await temporaryFolder(), "nats");
    await expect(start(folder, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
