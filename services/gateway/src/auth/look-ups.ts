/** What belongs to some hashes, by the hash in base64; those that belong to nothing are missing. */
export type LookUpMany<Found> = (hashes: readonly Buffer[]) => Promise<ReadonlyMap<string, Found>>;

/** Questions that go to the database together. */
export interface LookUps<Found> {
  /** Null for what belongs to nothing. Who asks for the same at the same time shares the answer. */
  ask(key: string, hash: Buffer): Promise<Found | null>;
  /** From now on nobody shares the answer to an earlier question. */
  restart(): void;
}

/** Of one statement. */
const HASHES_MAX = 500;

interface Question<Found> {
  hash: Buffer;
  answer: PromiseWithResolvers<Found | null>;
}

/** Asks for what comes together in one turn of the event loop with one statement. */
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
      // What was not asked yet is asked afterwards, and may be shared all the same.
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
