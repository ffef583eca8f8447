import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "@workflow/errors";

/** OWASP's scrypt profile with 32 MiB of memory; about 0.2 s a hash. */
const COST = { log2: 15, blockSize: 8, parallelism: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Ten seconds' worth: who came later would have given up before the answer. */
const WAITING_MAX = 50;

const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

interface Cost {
  log2: number;
  blockSize: number;
  parallelism: number;
}

/**
 * The end of the queue of hashes. They are made one after another in a process: libuv has four
 * threads by default, and with all of them hashing, new database connections (whose handshake needs
 * one) time out.
 */
let queue: Promise<unknown> = Promise.resolve();
let waiting = 0;

/**
 * The hash of a password in PHC string form, `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` (base64 without
 * padding). The password is brought into NFKC first, so that it does not matter which keyboard
 * composed its characters.
 *
 * @throws AppError UNAVAILABLE when too many wait for theirs
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST, HASH_BYTES);
  const parameters = `ln=${COST.log2},r=${COST.blockSize},p=${COST.parallelism}`;
  return `$scrypt$${parameters}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Whether a password is the one behind a stored hash. Without one the answer is no, after the same
 * work: how long it takes does not tell whether there is such a person.
 *
 * @throws AppError UNAVAILABLE when too many wait for theirs
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  if (stored === null) {
    await derive(password, randomBytes(SALT_BYTES), COST, HASH_BYTES);
    return false;
  }
  const [, log2, blockSize, parallelism, salt, hash] = PHC.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) throw new Error("A stored password is unreadable.");
  const cost = {
    log2: Number(log2),
    blockSize: Number(blockSize),
    parallelism: Number(parallelism),
  };
  const expected = Buffer.from(hash, "base64");
  const actual = await derive(password, Buffer.from(salt, "base64"), cost, expected.length);
  return timingSafeEqual(actual, expected);
}

async function derive(password: string, salt: Buffer, cost: Cost, length: number): Promise<Buffer> {
  if (waiting >= WAITING_MAX) {
    throw new AppError("UNAVAILABLE", "Too many people sign in at the moment.", {
      retryAfterMs: 5_000,
    });
  }
  waiting += 1;
  const turn = queue.then(() => deriveNow(password.normalize("NFKC"), salt, cost, length));
  queue = turn.catch(() => {});
  return turn.finally(() => (waiting -= 1));
}

function deriveNow(password: string, salt: Buffer, cost: Cost, length: number): Promise<Buffer> {
  const options = {
    N: 2 ** cost.log2,
    r: cost.blockSize,
    p: cost.parallelism,
    // Node's own limit is 32 MiB, just below what these parameters take.
    maxmem: 64 * 1024 * 1024,
  };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
