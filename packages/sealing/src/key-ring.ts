import { createHash } from "node:crypto";
import { AppError } from "@workflow/errors";

/** A key encryption key with the name under which the database knows it. */
export interface Kek {
  id: string;
  key: Buffer;
}

/**
 * The Postgres schemas that hold the tables `keks` and `company_keys`: a closed list, written in code and
 * never input.
 */
export type SealingSchema = "integrations" | "webhooks";

/** Where the keys of SECRETS_KEK come from: 32 bytes each, the first one encrypts, all decrypt. */
export type LoadKeks = () => Promise<readonly Buffer[]>;

/** The keys of SECRETS_KEK as this process knows them, for the values of one schema. */
export interface KeyRing {
  readonly schema: SealingSchema;
  /** The key that wraps what is new. */
  primary(): Kek;
  ids(): string[];
  /**
   * Asks the source again when the key is not known.
   *
   * @throws AppError UNAVAILABLE when it still is not
   */
  get(id: string): Promise<Kek>;
  /** Asks the source again and tells whether another key has become the primary one. */
  reload(): Promise<boolean>;
}

const KEK_BYTES = 32;
const ID_DIGITS = 16;

/**
 * Loads the keys.
 *
 * @throws Error when there is none, or one that is not 32 bytes long
 */
export async function createKeyRing(schema: SealingSchema, load: LoadKeks): Promise<KeyRing> {
  let keks = toKeks(await load());
  const find = (id: string): Kek | undefined => keks.find((kek) => kek.id === id);

  const ring: KeyRing = {
    schema,
    primary: () => firstOf(keks),
    ids: () => keks.map(({ id }) => id),
    async get(id) {
      if (find(id) === undefined) await ring.reload();
      return find(id) ?? throwUnknown(id);
    },
    async reload() {
      const before = ring.primary().id;
      keks = toKeks(await load());
      return ring.primary().id !== before;
    },
  };
  return ring;
}

/** The name of a key, from which nothing of the key can be learnt. */
function kekIdOf(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex").slice(0, ID_DIGITS);
}

function toKeks(keys: readonly Buffer[]): Kek[] {
  if (keys.length === 0 || keys.some((key) => key.length !== KEK_BYTES)) {
    throw new Error(`SECRETS_KEK: keys of ${KEK_BYTES} bytes are needed.`);
  }
  return keys.map((key) => ({ id: kekIdOf(key), key }));
}

/** The key that wraps what is new, of the keys of SECRETS_KEK. */
export function primaryOf(keys: readonly Buffer[]): Kek {
  return firstOf(toKeks(keys));
}

function firstOf(keks: readonly Kek[]): Kek {
  const [first] = keks;
  if (first === undefined) throw new Error("A key ring is never empty.");
  return first;
}

/** Not a fault of the caller, and over as soon as the setting is mended: worth a retry. */
function throwUnknown(id: string): never {
  throw new AppError("UNAVAILABLE", "Secrets cannot be read at the moment.", {
    internal: `SECRETS_KEK lacks the key ${id}, with which a company's key is wrapped.`,
  });
}
