import type { RouteContext } from "../../route-context.ts";

/** Answers with fewer bytes of documents are not counted. */
const SMALL_BYTES = 256 * 1024;

/** The documents, and what to call when the client has them. */
interface Held<Answer> {
  answer: Answer;
  onOver: () => void;
}

/**
 * Reads documents that stay in memory until the client has taken them. Small ones are read at once.
 * Large ones wait for their turn, so that many slow clients do not fill the memory (D57).
 *
 * @param read gets the number of bytes that it may return; 0 for all
 * @param sizeOf the size of a document that an answer has left out; else null
 * @throws AppError RATE_LIMITED, UNAVAILABLE when the turn does not come in time
 */
export async function readHeld<Answer>(
  { largeAnswers, identity, call }: RouteContext,
  read: (bytesMax: number) => Promise<Answer>,
  sizeOf: (answer: Answer) => number | null,
): Promise<Held<Answer>> {
  const small = await read(SMALL_BYTES);
  const bytes = sizeOf(small);
  if (bytes === null) return { answer: small, onOver: () => {} };
  const onOver = await largeAnswers.take(identity.companyId, bytes, call.signal);
  try {
    return { answer: await read(0), onOver };
  } catch (error) {
    onOver();
    throw error;
  }
}
