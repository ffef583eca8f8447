import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import { checkMediaType } from "./media-type.ts";
import type { BodyForm } from "./media-type.ts";
import { checkAnnouncedSize, readBody } from "./read-body.ts";

/** A body that the route's handler receives by itself, when it is ready for it. */
export interface Upload {
  /**
   * What the client says of its size; undefined when it does not say. It may have as much all the
   * same, up to the route's limit.
   */
  readonly bytesAnnounced: number | undefined;
  /**
   * Looks at what the request says of its body.
   *
   * @throws AppError UNSUPPORTED_MEDIA_TYPE when it is not of this form, PAYLOAD_TOO_LARGE when it
   * is announced to be over the route's limit
   */
  check(form: BodyForm): void;
  /** Receives it. Rejects with PAYLOAD_TOO_LARGE, and with BAD_REQUEST when there is none. */
  receive(): Promise<Buffer>;
}

/** The body of a request, of at most so many bytes. */
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
