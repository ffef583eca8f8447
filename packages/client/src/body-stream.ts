import { InvalidAnswerError } from "./errors.ts";

/**
 * The body of a good answer, bit by bit. An answer without a body, such as 204, is a stream that has ended.
 *
 * @param accept the type that the request asked for; any but a page is good without one
 * @param onEnd called once the body has ended, has broken or is no longer wanted
 * @throws InvalidAnswerError for answers of another type, such as a proxy's page
 */
export async function openBody(
  response: Response,
  { accept = "*/*", onEnd }: { accept: string | undefined; onEnd: () => void },
): Promise<ReadableStream<Uint8Array>> {
  const { status, body, headers } = response;
  if (status !== 204 && !isOfType(headers.get("content-type") ?? "", accept)) {
    await body?.cancel();
    const type = headers.get("content-type") ?? "no type";
    throw new InvalidAnswerError(
      `The answer (${type}) is not of this API; baseUrl may be wrong.`,
      status,
    );
  }
  if (body !== null) return toldOfItsEnd(body, onEnd);
  onEnd();
  return new Blob([]).stream();
}

/** No operation answers with a page. */
function isOfType(contentType: string, accept: string): boolean {
  const type = contentType.split(";")[0]?.trim().toLowerCase();
  return accept === "*/*" ? type !== "text/html" : type === accept;
}

/** Passes a stream on, without reading further ahead, and tells its end. */
function toldOfItsEnd(
  stream: ReadableStream<Uint8Array>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await reader.read();
          if (!piece.done) return controller.enqueue(piece.value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        onEnd();
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
