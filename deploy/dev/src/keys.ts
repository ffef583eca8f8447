import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateSigningKey, readSigningKey } from "@workflow/rpc";
import { codeOf, StartError } from "./start-error.ts";

const KEYS_FOLDER = "keys";
const SIGNING_KEY_FILE = "internal-token.pem";

/**
 * The private key that signs the tokens between services, as PEM: made on first use and kept in the
 * data folder, readable for its owner only. Safe when several processes ask at once.
 *
 * @throws StartError naming the file when it holds something else
 */
export async function ensureSigningKey(dataDir: string): Promise<string> {
  const folder = join(dataDir, KEYS_FOLDER);
  const file = join(folder, SIGNING_KEY_FILE);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pem = (await readIfExists(file)) ?? (await makeKey(file));
  try {
    readSigningKey(pem);
  } catch (error) {
    throw new StartError(
      `${file} is damaged. Restore it, or remove it: a new one is made on the next start.`,
      { cause: error },
    );
  }
  return pem;
}

/** Whoever links first has made the key; the others take that one. */
async function makeKey(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, generateSigningKey().privateKeyPem, { mode: 0o600, flush: true });
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, "utf8");
}

async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
