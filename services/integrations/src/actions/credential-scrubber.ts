import { fill, patternValues } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest } from "@workflow/catalog";
import { createScrubber } from "@workflow/scrubber";

/** Takes a connection's credentials out of what others said, in every form that the package knows. */
export interface CredentialScrubber {
  /** The texts that are looked for, as they may appear in plain. */
  readonly secrets: readonly string[];
  readonly text: (text: string) => string;
  /**
   * Strings, numbers and names of members at any depth; the very value where there is nothing to take out.
   * Others have their turns while a large one is searched.
   */
  readonly json: (value: unknown) => Promise<unknown>;
}

/** Anything shorter would take words out of what is harmless. */
const LENGTH_MIN = 4;

const known = new WeakMap<ConnectionAccess, CredentialScrubber>();

/** The scrubber of a connection; made once for as long as its credentials are remembered. */
export function scrubberOf(
  provider: ProviderManifest,
  connection: ConnectionAccess,
): CredentialScrubber {
  const made = known.get(connection) ?? toCredentialScrubber(secretsOf(provider, connection));
  known.set(connection, made);
  return made;
}

function secretsOf({ sign }: ProviderManifest, connection: ConnectionAccess): string[] {
  const values = patternValues(connection);
  const pair = sign.basic?.map((pattern) => fillOrEmpty(pattern, values)).join(":");
  return [...Object.values(connection.credentials), ...(pair === undefined ? [] : [pair])];
}

/** A connection that lacks something signs no request. */
function fillOrEmpty(pattern: string, values: Readonly<Record<string, string>>): string {
  try {
    return fill(pattern, values);
  } catch {
    return "";
  }
}

function toCredentialScrubber(given: readonly string[]): CredentialScrubber {
  const secrets = [...new Set(given)].filter(({ length }) => length >= LENGTH_MIN);
  const scrubber = createScrubber(secrets);
  return {
    secrets,
    text: (text) => scrubber?.text(text) ?? text,
    json: async (value) => (scrubber === null ? value : scrubber.jsonInTurns(value)),
  };
}
