import { createHash } from "node:crypto";
import { AppError } from "@workflow/errors";

/** A key encryption key (KEK) with its name in the database. */
export interface Kek {
  id: string;
  key: Buffer;
}

/**
 * The Postgres schemas with the tables `keks` and `company_keys`. The list is closed and never comes from input.
 */
export type SealingSchema = "integrations" | "webhooks";

/** Loads the keys of SECRETS_KEK, 32 bytes each. The first one encrypts; all of them decrypt. */
export type LoadKeks = () => Promise<readonly Buffer[]>;

/** The keys of SECRETS_KEK that this process knows, for the values of one schema. */
export interface KeyRing {
  readonly schema: SealingSchema;
  /** The key that wraps new company keys. */
  primary(): Kek;
  ids(): string[];
  /**
   * The key of an id. An unknown id makes the ring ask its source again.
   * @throws AppError UNAVAILABLE when the key is still unknown
   */
  get(id: string): Promise<Kek>;
  /** Asks the source again. True when another key has become the primary one. */
  reload(): Promise<boolean>;
}

const KEK_BYTES = 32;
const ID_DIGITS = 16;

/**
 * Loads the keys.
 * @throws Error when there is no key, or one is not 32 bytes long
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

/** The name of a key, which reveals nothing of the key. */
function kekIdOf(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex").slice(0, ID_DIGITS);
}

function toKeks(keys: readonly Buffer[]): Kek[] {
  if (keys.length === 0 || keys.some((key) => key.length !== KEK_BYTES)) {
    throw new Error(`SECRETS_KEK: keys of ${KEK_BYTES} bytes are needed.`);
  }
  return keys.map((key) => ({ id: kekIdOf(key), key }));
}

/** The key of SECRETS_KEK that wraps new company keys. */
export function primaryOf(keys: readonly Buffer[]): Kek {
  return firstOf(toKeks(keys));
}

function firstOf(keks: readonly Kek[]): Kek {
  const [first] = keks;
  if (first === undefined) throw new Error("A key ring is never empty.");
  return first;
}

/** The caller is not at fault, and a corrected setting ends the state, so a retry is right. */
function throwUnknown(id: string): never {
  throw new AppError("UNAVAILABLE", "Secrets cannot be read at the moment.", {
    internal: `SECRETS_KEK lacks the key ${id}, with which a company's key is wrapped.`,
  });
}
