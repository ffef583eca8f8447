import { createHash } from "node:crypto";
import { parse, stringify, v7, validate } from "uuid";

/** Crockford's base32 digits in lower case (https://www.crockford.com/base32.html). */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGIT_VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit, BigInt(value)]));
const BODY_LENGTH = 26;
const UUID_BITS_MAX = (1n << 128n) - 1n;
/** A UUIDv7 begins with 48 bits of milliseconds. */
const UUID_MILLIS_MAX = 2 ** 48 - 1;
const UUID_RANDOM_BITS = 80n;

/** A new UUIDv7: sorts by time, and within one process by order of creation (D1). */
export function newUuid(): string {
  return v7();
}

/** A new prefixed id: the prefix and 26 lower-case Crockford digits of a UUIDv7 (D1). */
export function newId(prefix: string): string {
  return prefix + encodeBody(v7(undefined, new Uint8Array(16)));
}

/**
 * The prefixed id that follows from a time and a text: equal inputs give equal ids, others differ
 * like random ones. It is a UUIDv7 of that time, so it sorts with those of `newId`.
 *
 * @param moment counted in whole milliseconds
 */
export function derivedId(prefix: string, moment: Date, text: string): string {
  // Written here, because stored ids must not depend on a library's version.
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(moment.getTime(), 0, 6);
  createHash("sha256").update(text).digest().copy(bytes, 6, 0, 10);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return prefix + encodeBody(bytes);
}

/** Whether a text is a UUID in its canonical lower- or upper-case form. */
export function isUuid(text: string): boolean {
  return validate(text);
}

/** Whether a text is an id that `newId` could have made with this prefix. */
export function isId(prefix: string, text: string): boolean {
  return text.startsWith(prefix) && decodeBody(text.slice(prefix.length)) !== null;
}

/** The time, in milliseconds, at which a UUIDv7 was created. */
export function uuidTimestamp(uuid: string): Date {
  let millis = 0;
  for (const byte of parse(uuid).subarray(0, 6)) millis = millis * 256 + byte;
  return new Date(millis);
}

/** The time, in milliseconds, at which a prefixed id was created. */
export function idTimestamp(id: string): Date {
  const value = decodeBody(id.slice(-BODY_LENGTH));
  if (value === null) throw new RangeError("not an id");
  const hex = value.toString(16).padStart(32, "0");
  return uuidTimestamp(
    stringify(
      Uint8Array.from({ length: 16 }, (_, index) =>
        parseInt(hex.slice(index * 2, index * 2 + 2), 16),
      ),
    ),
  );
}

/**
 * The least id of a time: ids with this prefix sort before it exactly when they were created
 * earlier. Times out of range become the nearest possible ones.
 */
export function firstIdAt(prefix: string, moment: Date): string {
  const millis = Math.min(Math.max(moment.getTime(), 0), UUID_MILLIS_MAX);
  let rest = BigInt(millis) << UUID_RANDOM_BITS;
  let body = "";
  for (let digit = 0; digit < BODY_LENGTH; digit++) {
    body = DIGITS.charAt(Number(rest & 31n)) + body;
    rest >>= 5n;
  }
  return prefix + body;
}

function encodeBody(bytes: Uint8Array): string {
  let bits = 0;
  let bitCount = 2; // 26 digits hold 130 bits: the first digit starts with two zero bits.
  let body = "";
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    bitCount += 8;
    while (bitCount >= 5) {
      bitCount -= 5;
      body += DIGITS[(bits >>> bitCount) & 31];
    }
    bits &= (1 << bitCount) - 1;
  }
  return body;
}

function decodeBody(body: string): bigint | null {
  if (body.length !== BODY_LENGTH) return null;
  let value = 0n;
  for (const digit of body) {
    const digitValue = DIGIT_VALUES.get(digit);
    if (digitValue === undefined) return null;
    value = (value << 5n) | digitValue;
  }
  return value <= UUID_BITS_MAX ? value : null;
}
