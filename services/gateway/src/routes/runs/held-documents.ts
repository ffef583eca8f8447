import type { RouteContext } from "../../route-context.ts";

/** Answers with fewer bytes of documents are not counted. */
const SMALL_BYTES = 256 * 1024;

/** What was read, and what to call when the client has it. */
interface Held<Answer> {
  answer: Answer;
  onOver: () => void;
}

/**
 * Reads documents that the answer holds until its client has taken them. What is small is read at once;
 * what is not waits for its turn, so that many slow clients do not fill the memory (D57).
 *
 * @param read gets how many bytes it may bring; 0 for all
 * @param sizeOf how many bytes there are of which an answer has left something out; else null
 * @throws AppError RATE_LIMITED, UNAVAILABLE when the turn does not come
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
