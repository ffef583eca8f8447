import { answerTogether, Batcher } from "@workflow/async";
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

/** Looks up all hashes of one turn of the event loop with one statement. */
export function createLookUps<Found>(lookUp: LookUpMany<Found>): LookUps<Found> {
  /** The answers that further callers share. */
  let shared = new Map<string, Promise<Found | null>>();
  const questions = new Batcher<{ key: string; hash: Buffer }, Found | null>({
    itemsMax: HASHES_MAX,
    handle: answerTogether(async (asked) => {
      const found = await lookUp(asked.map(({ hash }) => hash));
      return asked.map(({ key }) => found.get(key) ?? null);
    }),
  });
  return {
    ask(key, hash) {
      const known = shared.get(key);
      if (known !== undefined) return known;
      const sharing = shared;
      const answer = questions.ask({ key, hash }).finally(() => sharing.delete(key));
      sharing.set(key, answer);
      return answer;
    },
    restart() {
      shared = new Map();
    },
  };
}
