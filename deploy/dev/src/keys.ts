import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateSigningKey, readSigningKey } from "@workflow/rpc";
import type { TokenIssuer } from "@workflow/rpc";
import { ConfigError, parseConfig, pickSettings } from "@workflow/service";
import { codeOf, StartError } from "./start-error.ts";

const KEYS_FOLDER = "keys";
const SECRETS_KEK_FILE = "secrets-kek";
const KEK_BYTES = 32;

const kekSetting = pickSettings("SECRETS_KEK").required({ SECRETS_KEK: true });

/** The private key of each issuer of internal tokens, as PEM. */
export type SigningKeys = Readonly<Record<TokenIssuer, string>>;

/**
 * The keys of all issuers: the given key where the process has one, else that of the data folder.
 * @throws StartError that names a file with other content
 */
export async function ensureSigningKeys(
  given: string | undefined,
  dataDir: string,
): Promise<SigningKeys> {
  const keyOf = async (issuer: TokenIssuer) => given ?? ensureSigningKey(dataDir, issuer);
  return {
    gateway: await keyOf("gateway"),
    workflows: await keyOf("workflows"),
    runs: await keyOf("runs"),
    webhooks: await keyOf("webhooks"),
    admin: await keyOf("admin"),
  };
}

/**
 * The private key with which an issuer signs internal tokens, as PEM. It is created on first use and kept in the
 * data folder, readable only for its owner. Several processes may ask at once.
 * @throws StartError that names a file with other content
 */
export async function ensureSigningKey(dataDir: string, issuer: TokenIssuer): Promise<string> {
  const file = await ensureKeyFile(dataDir, `internal-token-${issuer}.pem`, () => {
    return generateSigningKey().privateKeyPem;
  });
  try {
    readSigningKey(file.text);
  } catch (error) {
    throw new StartError(
      `${file.path} is damaged. Restore it, or remove it: a new one is made on the next start.`,
      { cause: error },
    );
  }
  return file.text;
}

/**
 * The keys that encrypt stored secrets, in the form of SECRETS_KEK. They are created and kept like the signing key.
 * Without this file, the secrets in the database are lost.
 * @throws StartError that names a file with other content
 */
export async function ensureSecretsKeks(dataDir: string): Promise<readonly Buffer[]> {
  const file = await ensureKeyFile(dataDir, SECRETS_KEK_FILE, newSecretsKek);
  return parseSecretsKeks(file.path, file.text);
}

/** Reads the keys without creating any: null when the file is missing. */
export async function readSecretsKeks(dataDir: string): Promise<readonly Buffer[] | null> {
  const path = join(dataDir, KEYS_FOLDER, SECRETS_KEK_FILE);
  const text = await readIfExists(path);
  return text === null ? null : parseSecretsKeks(path, text);
}

/**
 * A loader of the keys, called again and again. It reads the setting, else the file. A file that vanishes while the
 * system runs is not created anew.
 */
export async function secretsKeksLoader(
  given: readonly Buffer[] | undefined,
  dataDir: string,
): Promise<() => Promise<readonly Buffer[]>> {
  if (given !== undefined) return () => Promise.resolve(given);
  await ensureSecretsKeks(dataDir);
  return async () => {
    const keks = await readSecretsKeks(dataDir);
    if (keks === null) throw new StartError(`${dataDir} has lost its key of stored secrets.`);
    return keks;
  };
}

/** Replaces the keys of the file atomically, and returns once a loss of power cannot undo it. */
export async function replaceSecretsKeks(dataDir: string, keks: readonly Buffer[]): Promise<void> {
  const path = join(dataDir, KEYS_FOLDER, SECRETS_KEK_FILE);
  const draft = draftOf(path);
  const text = `${keks.map((kek) => kek.toString("base64")).join(",")}\n`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await flushFolder(dirname(path));
}

/** A new key in the form of the setting. */
function newSecretsKek(): string {
  return `${randomBytes(KEK_BYTES).toString("base64")}\n`;
}

function parseSecretsKeks(path: string, text: string): readonly Buffer[] {
  try {
    return parseConfig(kekSetting, { SECRETS_KEK: text }).SECRETS_KEK;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new StartError(`${path} is damaged. Restore it: stored secrets cannot be read without.`);
  }
}

async function ensureKeyFile(
  dataDir: string,
  name: string,
  make: () => string,
): Promise<{ path: string; text: string }> {
  const folder = join(dataDir, KEYS_FOLDER);
  const path = join(folder, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return { path, text: (await readIfExists(path)) ?? (await makeKeyFile(path, make())) };
}

/** The first process to link the file has made the key. The others read it. */
async function makeKeyFile(path: string, text: string): Promise<string> {
  const draft = draftOf(path);
  await writeFile(draft, text, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
    await flushFolder(dirname(path));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(path, "utf8");
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(4).toString("hex")}`;
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
