import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";

/**
 * Reads a request body of at most so many bytes; resolves to null when there is none. Throws
 * PAYLOAD_TOO_LARGE as soon as more is announced or has come. The rest is then received and thrown
 * away, because closing the connection under a client that still sends makes its system drop our
 * answer; the server's request timeout bounds that.
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const announced = request.headers["content-length"];
  if (announced === undefined && request.headers["transfer-encoding"] === undefined) return null;
  if (announced !== undefined && Number(announced) > bytesMax) {
    request.resume();
    throw tooLarge(bytesMax);
  }
  const body = await collect(request, bytesMax);
  return body.length === 0 ? null : body;
}

function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      byteCount += chunk.length;
      if (byteCount <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      settle(() => {
        request.resume();
        reject(tooLarge(bytesMax));
      });
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, byteCount)));
    const onBroken = (): void =>
      settle(() => reject(new AppError("BAD_REQUEST", "The request body ended early.")));
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", `The request body must be at most ${bytesMax} bytes.`);
}
