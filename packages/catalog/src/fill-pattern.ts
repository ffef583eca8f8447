import type { ConnectionAccess, Pattern } from "./provider-manifest.ts";

const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9_]*)(:host)?\}/g;

/** A connection lacks a field that a request needs, so the account must be connected again. */
export class MissingFieldError extends Error {
  override readonly name = "MissingFieldError";
}

/**
 * Replaces `{name}` by its value, and `{name:host}` by one label of a host name: NetSuite's account
 * `1234567_SB1` becomes `1234567-sb1`.
 *
 * @throws MissingFieldError
 */
export function fill(
  pattern: Pattern,
  values: Readonly<Record<string, string>>,
  encode: (value: string) => string = (value) => value,
): string {
  return pattern.replaceAll(PLACEHOLDER, (_, name: string, host?: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === "") {
      throw new MissingFieldError(`The connection has no ${name}.`);
    }
    return host === undefined ? encode(value) : toHostLabel(name, value);
  });
}

function toHostLabel(name: string, value: string): string {
  const label = value.toLowerCase().replaceAll("_", "-");
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) return label;
  throw new MissingFieldError(`The connection's ${name} can't be part of a host name.`);
}

/** The values that patterns may name: fields and credentials. Credentials take precedence. */
export function patternValues({ fields, credentials }: ConnectionAccess): Record<string, string> {
  return { ...fields, ...credentials };
}

/** Lists the names in a pattern. */
export function placeholdersOf(pattern: Pattern): string[] {
  return [...pattern.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}
