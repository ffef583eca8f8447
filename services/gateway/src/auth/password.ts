import { randomBytes, scrypt } from "node:crypto";

/** OWASP's scrypt profile with 32 MiB of memory; about 0.2 s a hash. */
const LOG2_COST = 15;
const BLOCK_SIZE = 8;
const PARALLELISM = 3;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/**
 * The end of the queue of hashes. They are made one after another in a process: libuv has four
 * threads by default, and with all of them hashing, new database connections (whose handshake needs
 * one) time out.
 */
let queue: Promise<unknown> = Promise.resolve();

/**
 * The hash of a password in PHC string form, `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` (base64 without
 * padding). The password is brought into NFKC first, so that it does not matter which keyboard
 * composed its characters.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const turn = queue.then(() => derive(password.normalize("NFKC"), salt));
  queue = turn.catch(() => {});
  const hash = await turn;
  const parameters = `ln=${LOG2_COST},r=${BLOCK_SIZE},p=${PARALLELISM}`;
  return `$scrypt$${parameters}$${unpadded(salt)}$${unpadded(hash)}`;
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  const options = {
    N: 2 ** LOG2_COST,
    r: BLOCK_SIZE,
    p: PARALLELISM,
    // Node's own limit is 32 MiB, just below what these parameters take.
    maxmem: 64 * 1024 * 1024,
  };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
