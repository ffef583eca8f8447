/** The values of some hashes, by the hash in base64; unknown hashes are missing. */
export type LookUpMany<Found> = (hashes: readonly Buffer[]) => Promise<ReadonlyMap<string, Found>>;

/** Questions that go to the database together. */
export interface LookUps<Found> {
  /**
   * Null for an unknown hash. Callers who ask for the same hash at the same time share the answer.
   */
  ask(key: string, hash: Buffer): Promise<Found | null>;
  /** From now on nobody shares the answer to an earlier question. */
  restart(): void;
}

/** The number of hashes in one statement. */
const HASHES_MAX = 500;

interface Question<Found> {
  hash: Buffer;
  answer: PromiseWithResolvers<Found | null>;
}

/** Looks up all hashes of one turn of the event loop with one statement. */
export function createLookUps<Found>(lookUp: LookUpMany<Found>): LookUps<Found> {
  let underWay = new Map<string, Promise<Found | null>>();
  let waiting = new Map<string, Question<Found>>();

  const flush = (): void => {
    const questions = [...waiting];
    waiting = new Map();
    for (let start = 0; start < questions.length; start += HASHES_MAX) {
      void answer(questions.slice(start, start + HASHES_MAX));
    }
  };

  const answer = async (questions: readonly [string, Question<Found>][]): Promise<void> => {
    const sharing = underWay;
    try {
      const answers = await lookUp(questions.map(([, { hash }]) => hash));
      for (const [key, question] of questions) question.answer.resolve(answers.get(key) ?? null);
    } catch (error) {
      for (const [, question] of questions) question.answer.reject(error);
    } finally {
      for (const [key] of questions) sharing.delete(key);
    }
  };

  return {
    ask(key, hash) {
      const shared = underWay.get(key);
      if (shared !== undefined) return shared;
      const question = { hash, answer: Promise.withResolvers<Found | null>() };
      underWay.set(key, question.answer.promise);
      if (waiting.size === 0) setImmediate(flush);
      waiting.set(key, question);
      return question.answer.promise;
    },
    restart() {
      // Waiting questions reach the database later, so their answers may still be shared.
      underWay = new Map(
        [...waiting].map(
          ([
            key,
            {
              answer: { promise },
            },
          ]) => [key, promise],
        ),
      );
    },
  };
}
