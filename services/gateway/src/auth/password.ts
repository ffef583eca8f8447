import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "@workflow/errors";
import { createTurnLane } from "./turn-lane.ts";

/** OWASP's scrypt profile with 32 MiB of memory; about 0.2 s a hash. */
const COST = { log2: 15, blockSize: 8, parallelism: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const RETRY_AFTER_MS = 5_000;

const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

interface Cost {
  log2: number;
  blockSize: number;
  parallelism: number;
}

/**
 * Ten seconds' worth of hashing: a later caller would give up before the answer. One payer has half
 * of it, so that there is always room for others.
 */
const ROOM = { waitingMax: 50, waitingEachMax: 25 };

/**
 * Sign-ins and new passwords have a lane each, so that a company that adds a thousand members
 * delays no sign-in. Each lane hashes one password at a time, which leaves two of libuv's four
 * threads: without a free thread, handshakes of new database connections time out. While both lanes
 * are busy, they take one core more from the machine's other work than one lane would.
 */
const comparisons = createTurnLane({ ...ROOM, refusal: refusalTo("sign in") });
const newPasswords = createTurnLane({ ...ROOM, refusal: refusalTo("set a password") });

/**
 * The hash of a password in PHC string form, `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` (base64 without
 * padding). The password is normalized to NFKC first, so that all keyboards produce the same
 * characters.
 *
 * @param payer the company or network that pays; payers take turns
 * @throws AppError RATE_LIMITED when too many passwords of the payer wait, UNAVAILABLE when too
 * many do in all
 */
export async function hashPassword(password: string, payer: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await newPasswords.run(payer, () => derive(password, salt, COST, HASH_BYTES));
  const parameters = `ln=${COST.log2},r=${COST.blockSize},p=${COST.parallelism}`;
  return `$scrypt$${parameters}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Whether a password matches a stored hash. Without a hash the answer is no, after the same work:
 * the time does not reveal whether the person exists.
 *
 * @param payer the company or network that pays; payers take turns
 * @throws AppError RATE_LIMITED when too many passwords of the payer wait, UNAVAILABLE when too
 * many do in all
 */
export function verifyPassword(
  password: string,
  stored: string | null,
  payer: string,
): Promise<boolean> {
  return comparisons.run(payer, () => compare(password, stored));
}

async function compare(password: string, stored: string | null): Promise<boolean> {
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

function derive(password: string, salt: Buffer, cost: Cost, length: number): Promise<Buffer> {
  const options = {
    N: 2 ** cost.log2,
    r: cost.blockSize,
    p: cost.parallelism,
    // Node's own limit is 32 MiB, just below what these parameters need.
    maxmem: 64 * 1024 * 1024,
  };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, length, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

function refusalTo(what: string): (isOwn: boolean) => AppError {
  return (isOwn) =>
    new AppError(
      isOwn ? "RATE_LIMITED" : "UNAVAILABLE",
      `Too many people ${what} at the moment. Try again shortly.`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
