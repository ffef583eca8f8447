import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import { askForBody } from "./expected-continue.ts";

const LARGE_BYTES = 1024 * 1024;

/**
 * Reads a request body of at most so many bytes; resolves to null when there is none.
 *
 * @throws AppError PAYLOAD_TOO_LARGE as soon as more is announced or has come, and leaves the rest
 * to be thrown away behind the answer; BAD_REQUEST when the client stops half-way
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const announced = request.headers["content-length"];
  if (announced === undefined && request.headers["transfer-encoding"] === undefined) return null;
  checkAnnouncedSize(request, bytesMax);
  const body = await collect(request, bytesMax);
  return body.length === 0 ? null : body;
}

/**
 * @throws AppError PAYLOAD_TOO_LARGE when a request says that its body has more than so many bytes
 */
export function checkAnnouncedSize(request: IncomingMessage, bytesMax: number): void {
  const announced = request.headers["content-length"];
  if (announced === undefined || Number(announced) <= bytesMax) return;
  throw tooLarge(bytesMax);
}

function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { socket } = request;
    // Of a client that went away, or stopped, before its body was asked for no event tells any more.
    const isGone = request.destroyed && !request.readableEnded;
    if (isGone || (!request.complete && socket.readableEnded)) {
      reject(endedEarly());
      return;
    }
    const announced = Number(request.headers["content-length"] ?? 0);
    // Copied as they come: putting 64 MiB together at once takes 70 ms, in which nobody is served.
    const whole = announced >= LARGE_BYTES ? Buffer.allocUnsafeSlow(announced) : undefined;
    const chunks: Buffer[] = [];
    let byteCount = 0;
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      socket.off("end", onHalfClosed);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      byteCount += chunk.length;
      if (byteCount <= bytesMax) {
        if (whole === undefined) chunks.push(chunk);
        else chunk.copy(whole, byteCount - chunk.length);
        return;
      }
      settle(() => {
        request.pause();
        reject(tooLarge(bytesMax));
      });
    };
    const onEnd = (): void => settle(() => resolve(whole ?? Buffer.concat(chunks, byteCount)));
    const onBroken = (): void => settle(() => reject(endedEarly()));
    // Whoever sends no more may still want to read why that was too little.
    const onHalfClosed = (): void => {
      if (!request.complete) onBroken();
    };
    askForBody(request);
    socket.on("end", onHalfClosed);
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

function endedEarly(): AppError {
  return new AppError("BAD_REQUEST", "The request body ended early.");
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", `The request body must be at most ${bytesMax} bytes.`);
}
