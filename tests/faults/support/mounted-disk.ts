import { spawnSync } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHUNK_BYTES = 65_536;

/** Why this machine mounts no disks for tests; null when it does. */
export function whyNoMounts(): string | null {
  if (process.platform !== "linux") return `there is no tmpfs on ${process.platform}`;
  if (process.getuid?.() !== 0) return "this user is not root";
  const probe = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"], {
    encoding: "utf8",
  });
  if (probe.error !== undefined) return probe.error.message;
  return probe.status === 0 ? null : probe.stderr.trim() || `mount ended with ${probe.status}`;
}

/**
 * Mounts a disk of its own for a user, and resolves with its folder; null where nothing can be mounted.
 * @param defer gets what removes the disk
 */
export async function mountDisk(
  { megabytes, uid, gid }: { megabytes: number; uid: number; gid: number },
  defer: (undo: () => void | Promise<void>) => void,
): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  const folder = await mkdtemp(join(tmpdir(), "small-disk-"));
  defer(() => rm(folder, { recursive: true, force: true }));
  const options = `size=${megabytes}m,mode=700,uid=${uid},gid=${gid}`;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  if (mounted.status !== 0) return null;
  defer(() => void spawnSync("umount", ["--lazy", folder]));
  return folder;
}

/** Writes a file until its disk is full to the last byte. */
export async function fillUp(file: string): Promise<void> {
  for (const bytes of [CHUNK_BYTES, 1]) {
    const isFull = async (): Promise<boolean> =>
      appendFile(file, Buffer.alloc(bytes)).then(
        () => false,
        () => true,
      );
    while (!(await isFull()));
  }
}
