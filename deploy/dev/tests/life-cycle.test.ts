import { access, chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  cleanUp,
  launchStart,
  postgresProcesses,
  printedCompany,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";

const TIMEOUT_MS = 120_000;
const isRoot = process.getuid?.() === 0;

afterAll(cleanUp, TIMEOUT_MS);

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe("the life of a data folder", () => {
  it(
    "outlives Ctrl-C, admin commands while stopped, and kill -9",
    async () => {
      const dataDir = await temporaryFolder();
      const settings = await testSettings(dataDir);

      const first = await startSystem(settings);
      const key = printedKey(first.stdout());
      const companyId = printedCompany(first.stdout());
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
    "goes on by itself when its Postgres is killed",
    async () => {
      const dataDir = await temporaryFolder();
      const system = await startSystem(await testSettings(dataDir));
      const key = printedKey(system.stdout());
      const pidFile = await readFile(join(dataDir, "pgdata/postmaster.pid"), "utf8");
      const postmaster = Number(pidFile.split("\n")[0]);
      process.kill(postmaster, "SIGKILL");
      await waitFor(async () => !(await exists(`/proc/${postmaster}`)));
      await waitFor(async () => (await system.statusOf("/workflows", key)) === 200, {
        what: "the system to answer again",
        timeoutMs: 30_000,
      });
      system.child.kill("SIGTERM");
      const { exitCode, stderr } = await system.ended;
      expect(exitCode).toBe(0);
      expect(stderr).toContain("the embedded Postgres has ended by itself");
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "is left clean by a start that is interrupted half-way",
    async () => {
      const dataDir = await temporaryFolder();
      const start = launchStart(await testSettings(dataDir));
      await waitFor(() => exists(join(dataDir, "lock.json")), { what: "the start to begin" });
      start.child.kill("SIGINT");
      expect(await start.ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      expect(await exists(join(dataDir, "lock.json"))).toBe(false);
      expect(await postgresProcesses(dataDir)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  (isRoot ? it : it.skip)(
    "may lie where only root can enter",
    async () => {
      const closed = join(await temporaryFolder(), "closed");
      await mkdir(closed);
      await chmod(closed, 0o700);
      const system = await startSystem(await testSettings(join(closed, "data")));
      expect(await system.statusOf("/workflows", printedKey(system.stdout()))).toBe(200);
      system.child.kill("SIGINT");
      expect(await system.ended).toMatchObject({ exitCode: 0 });
    },
    TIMEOUT_MS,
  );
});
