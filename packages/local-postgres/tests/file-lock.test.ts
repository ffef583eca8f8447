import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { tryLockFile } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";

const HOLDER = join(import.meta.dirname, "hold-lock.ts");

let folder: string;
let path: string;
let toEnd: number[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "file-lock-"));
  path = join(folder, "lock");
  toEnd = [];
});

afterEach(async () => {
  for (const pid of toEnd) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** A process that holds the lock, whose parent never asks how it ended, and a child of it. */
async function holdElsewhere(): Promise<{ holder: number; child: number }> {
  const script = `"$0" "$1" "$2" & exec sleep 600`;
  const shell = spawn("sh", ["-c", script, process.execPath, HOLDER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  toEnd.push(shell.pid ?? 0);
  const [line] = await once(createInterface(shell.stdout), "line");
  const [holder = 0, child = 0] = String(line).split(" ").map(Number);
  toEnd.push(child);
  return { holder, child };
}

describe("a locked file", () => {
  it("belongs to one at a time, also within a process, until that one lets go", async () => {
    const lock = tryLockFile(path);
    expect(lock).not.toBeNull();
    expect(tryLockFile(path)).toBeNull();
    lock?.release();
    const next = tryLockFile(path);
    expect(next).not.toBeNull();
    next?.release();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("is free when its holder was killed, though a zombie, and though its child lives on", async () => {
    const { holder, child } = await holdElsewhere();
    expect(tryLockFile(path)).toBeNull();
    process.kill(holder, "SIGKILL");
    const stateOf = async (pid: number): Promise<string> =>
      /^State:\t(\S)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
    await waitFor(async () => (await stateOf(holder)) === "Z", { what: "the holder to end" });
    expect(await stateOf(child)).toBe("S");
    // Its other threads may take a moment longer than the one that is looked at.
    const lock = await waitFor(() => tryLockFile(path), { what: "the lock" });
    expect(await stateOf(holder)).toBe("Z");
    lock.release();
  });

  it("says so when it cannot be made", () => {
    expect(() => tryLockFile(join(folder, "missing", "lock"))).toThrow("unable to open");
  });
});
