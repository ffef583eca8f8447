import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  cleanUp,
  exists,
  launchProgram,
  launchStart,
  postgresProcesses,
  postmasterOf,
  printedCompany,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
  whenReady,
} from "./support/system.ts";
import type { Outcome } from "./support/system.ts";

const START = join(import.meta.dirname, "../src/start.ts");
const TIMEOUT_MS = 240_000;

afterAll(cleanUp, TIMEOUT_MS);

describe("the life of a data folder", () => {
  it(
    "outlives Ctrl-C, admin commands while stopped, and kill -9",
    async () => {
      const dataDir = await temporaryFolder();
      const settings = await testSettings(dataDir);

      const first = await startSystem(settings);
      const key = printedKey(first.stdout());
      const companyId = printedCompany(first.stdout());
      // Pasted into another terminal, it is about this system and not about the one in `.data`.
      expect(first.stdout()).toContain(
        `  DATA_DIR='${dataDir}' npm run admin -- create-api-key --company ${companyId} `,
      );
      // In a terminal both npm and the process itself get the signal.
      first.child.kill("SIGINT");
      await delay(50);
      first.child.kill("SIGINT");
      expect(await first.ended).toMatchObject({ exitCode: 0, stderr: "" });
      expect(await postgresProcesses(dataDir)).toEqual([]);
      expect(await exists(join(dataDir, "lock.json"))).toBe(false);

      const admin = await runAdmin(
        settings,
        `create-api-key --company ${companyId} --name later --scopes workflows:read --json`,
      );
      expect(admin).toMatchObject({ exitCode: 0, stderr: "" });
      const laterKey = printedKey(admin.stdout);
      expect(await postgresProcesses(dataDir)).toEqual([]);

      const second = await startSystem(settings);
      expect(second.stdout()).not.toMatch(/wfk_[A-Za-z0-9]{32}/);
      expect(await second.statusOf("/workflows", key)).toBe(200);
      expect(await second.statusOf("/workflows", laterKey)).toBe(200);
      second.child.kill("SIGKILL");
      await second.ended;

      const third = await startSystem(settings);
      expect(await third.statusOf("/workflows", key)).toBe(200);
      third.child.kill("SIGTERM");
      expect(await third.ended).toMatchObject({ exitCode: 0 });
    },
    TIMEOUT_MS,
  );

  it(
    "goes on by itself when its Postgres is killed, again and again, and stops while it comes back",
    async () => {
      const dataDir = await temporaryFolder();
      const system = await startSystem(await testSettings(dataDir));
      const key = printedKey(system.stdout());
      for (let kills = 0; kills < 2; kills += 1) {
        const postmaster = await postmasterOf(dataDir);
        process.kill(postmaster, "SIGKILL");
        await waitFor(async () => !(await exists(`/proc/${postmaster}`)));
        await waitFor(async () => (await system.statusOf("/workflows", key)) === 200, {
          what: "the system to answer again",
          timeoutMs: 60_000,
        });
      }
      process.kill(await postmasterOf(dataDir), "SIGKILL");
      system.child.kill("SIGTERM");
      let outcome: Outcome | undefined;
      void system.ended.then((ended) => (outcome = ended));
      await waitFor(() => outcome !== undefined, { what: "the stop", timeoutMs: 60_000 });
      expect(outcome?.exitCode).toBe(0);
      expect(outcome?.stderr).toContain("the embedded Postgres has ended by itself");
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "starts at once after a kill -9, though nobody has reaped the killed process",
    async () => {
      const dataDir = await temporaryFolder();
      const settings = await testSettings(dataDir);
      // The shell becomes a parent that never asks how its child has ended.
      const words = ["-c", `"$0" "$1" & exec sleep 600`, process.execPath, START];
      const parent = launchProgram("sh", words, settings);
      const first = await whenReady(parent, settings);
      const { pid } = JSON.parse(await readFile(join(dataDir, "lock.json"), "utf8"));
      process.kill(pid, "SIGKILL");
      const status = () => readFile(`/proc/${pid}/status`, "utf8");
      await waitFor(async () => /^State:\tZ/m.test(await status()), { what: "the kill" });
      const second = await startSystem(settings);
      expect(await second.statusOf("/workflows", printedKey(first.stdout()))).toBe(200);
      expect(await status()).toMatch(/^State:\tZ/m);
      second.child.kill("SIGTERM");
      expect(await second.ended).toMatchObject({ exitCode: 0 });
      parent.child.kill("SIGKILL");
    },
    TIMEOUT_MS,
  );

  it(
    "is left clean by a start that is interrupted half-way",
    async () => {
      const dataDir = await temporaryFolder();
      const start = launchStart(await testSettings(dataDir));
      await waitFor(() => exists(join(dataDir, "lock.json")), {
        what: "the start to begin",
        timeoutMs: 60_000,
      });
      start.child.kill("SIGINT");
      expect(await start.ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      expect(await exists(join(dataDir, "lock.json"))).toBe(false);
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
