import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "@workflow/errors";

/** Makes and reads the cursors of one service's keyset-paged lists. */
export interface CursorCodec {
  /**
   * @param binding what the cursor belongs to: company, list and filters in one canonical text
   * @param position the sort key of the last item of a page
   */
  encode(binding: string, position: readonly string[]): string;
  /**
   * @throws AppError BAD_REQUEST for a cursor that was not made by `encode` with the same binding
   */
  decode(binding: string, cursor: string): string[];
}

const TAG_BYTES = 16;
const CURSOR_CHARS_MAX = 1024;

/**
 * Cursors are opaque and signed (D6): base64url of a 16-byte HMAC-SHA256 tag over binding and
 * position, followed by the position. A caller can neither forge one nor use it on another list.
 */
export function createCursorCodec(key: Buffer): CursorCodec {
  const tagOf = (binding: string, payload: Buffer): Buffer =>
    createHmac("sha256", key)
      .update(`${Buffer.byteLength(binding)}:${binding}`)
      .update(payload)
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    encode(binding, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([tagOf(binding, payload), payload]).toString("base64url");
    },
    decode(binding, cursor) {
      const bytes = Buffer.from(cursor.slice(0, CURSOR_CHARS_MAX), "base64url");
      const payload = bytes.subarray(TAG_BYTES);
      const genuine =
        bytes.length > TAG_BYTES &&
        bytes.toString("base64url") === cursor &&
        timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(binding, payload));
      if (!genuine) throw invalidCursor();
      const position: unknown = JSON.parse(payload.toString());
      if (!Array.isArray(position) || !position.every((part) => typeof part === "string")) {
        throw invalidCursor();
      }
      return position;
    },
  };
}

function invalidCursor(): AppError {
  const message = "The cursor is not valid for this list and its filters.";
  return new AppError("BAD_REQUEST", message, {
    violations: [{ path: ["cursor"], message }],
  });
}
