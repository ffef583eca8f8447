import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import { checkMediaType } from "./media-type.ts";
import type { BodyForm } from "./media-type.ts";
import { checkAnnouncedSize, readBody } from "./read-body.ts";

/** A body that the route's handler reads itself, when it is ready. */
export interface Upload {
  /**
   * The announced size; undefined without an announcement. The body may still be as large as the
   * route's limit.
   */
  readonly bytesAnnounced: number | undefined;
  /**
   * Checks what the request announces of its body.
   *
   * @throws AppError UNSUPPORTED_MEDIA_TYPE for another content type; PAYLOAD_TOO_LARGE for a size
   * above the route's limit
   */
  check(form: BodyForm): void;
  /** Reads it. Rejects with PAYLOAD_TOO_LARGE, and with BAD_REQUEST when there is none. */
  receive(): Promise<Buffer>;
}

/** The body of a request, of at most this many bytes. */
export function createUpload(request: IncomingMessage, bytesMax: number): Upload {
  const announced = request.headers["content-length"];
  return {
    bytesAnnounced: announced === undefined ? undefined : Number(announced),
    check(form) {
      checkMediaType(request.headers, form);
      checkAnnouncedSize(request, bytesMax);
    },
    async receive() {
      const bytes = await readBody(request, bytesMax);
      if (bytes !== null) return bytes;
      throw new AppError("BAD_REQUEST", "A body is required.");
    },
  };
}
