import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";

/** The longest body of an inbound webhook (D4). */
const BODY_BYTES_MAX = 1024 * 1024;
/** The bytes of a longer body that are read and dropped, so that its sender can read the answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;

/** The expected bytes of a body, according to its head. */
export function expectedBytes({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return BODY_BYTES_MAX;
  return Math.min(Number(headers["content-length"] ?? 0), BODY_BYTES_MAX);
}

/**
 * Reads a body to its end.
 *
 * @throws AppError PAYLOAD_TOO_LARGE beyond 1 MiB, BAD_REQUEST when the sender stops half-way; the signal's reason
 */
export function readBody(request: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      byteCount += chunk.length;
      if (byteCount <= BODY_BYTES_MAX) chunks.push(chunk);
      else chunks.length = 0;
      if (byteCount > DISCARDED_BYTES_MAX) settle(() => reject(tooLarge()));
    };
    const onEnd = (): void => {
      settle(() => {
        if (byteCount > BODY_BYTES_MAX) reject(tooLarge());
        else resolve(Buffer.concat(chunks, byteCount));
      });
    };
    const onBroken = (): void => {
      settle(() => reject(new AppError("BAD_REQUEST", "The request body ended early.")));
    };
    const onAbort = (): void => {
      settle(() => reject(byteCount > BODY_BYTES_MAX ? tooLarge() : signal.reason));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

function tooLarge(): AppError {
  return new AppError(
    "PAYLOAD_TOO_LARGE",
    `The request body must be at most ${BODY_BYTES_MAX} bytes.`,
  );
}
