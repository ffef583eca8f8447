import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * What is stored is version (1 byte), nonce (12), ciphertext, tag (16). AES-256-GCM; the version and
 * the context go in as additional data, so that a value that was moved to another place does not
 * open.
 */
const ALGORITHM = "aes-256-gcm";
const VERSION = Buffer.from([1]);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = VERSION.length + NONCE_BYTES;

/** The bytes do not belong to this key and context, or were changed. */
export class SealBrokenError extends Error {
  override readonly name = "SealBrokenError";
}

/**
 * Encrypts and authenticates a text or a key. The nonce is random: one key may seal 2^32 values
 * before a repetition becomes likelier than 2^-32 (NIST SP 800-38D, 8.3).
 *
 * @param context where the result belongs; opening needs the same
 */
export function seal(key: Buffer, plain: Buffer, context: readonly string[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(context));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([VERSION, nonce, ciphertext, cipher.getAuthTag()]);
}

/**
 * Decrypts a value that was sealed with the same key and context.
 * @throws SealBrokenError for anything else
 */
export function open(key: Buffer, sealed: Buffer, context: readonly string[]): Buffer {
  if (sealed.length < HEADER_BYTES + TAG_BYTES || !sealed.subarray(0, 1).equals(VERSION)) {
    throw new SealBrokenError("These bytes were not made by this version.");
  }
  const nonce = sealed.subarray(VERSION.length, HEADER_BYTES);
  const tagStart = sealed.length - TAG_BYTES;
  // Without a fixed length, Node would accept a tag that was cut to four bytes.
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(additionalData(context));
  decipher.setAuthTag(sealed.subarray(tagStart));
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(HEADER_BYTES, tagStart)),
      decipher.final(),
    ]);
  } catch (error) {
    throw new SealBrokenError("The bytes or their place were changed, or the key is another.", {
      cause: error,
    });
  }
}

/** JSON keeps the parts apart: no two contexts give the same bytes. */
function additionalData(context: readonly string[]): Buffer {
  return Buffer.concat([VERSION, Buffer.from(JSON.stringify(context))]);
}
