import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/** Puts a file in place at once: whoever reads sees the old one or the new one, never half of it. */
export async function writeWholeFile(path: string, text: string, mode = 0o644): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
