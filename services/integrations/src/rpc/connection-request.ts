import { findProvider, PROVIDERS } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isStorableText, NESTING_MAX } from "@workflow/json";
import { METADATA_BYTES_MAX, NAME_CHARS_MAX } from "../connections/limits.ts";

/** The BAD_REQUEST that names a field. The message follows the field's name. */
export function wrongField(field: string, message: string): AppError {
  const violations: Violation[] = [{ path: [field], message }];
  return new AppError("BAD_REQUEST", `${field} ${message}.`, { violations });
}

/**
 * The provider that a body or a filter names.
 *
 * @throws AppError BAD_REQUEST for an unknown one
 */
export function requireProvider(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider !== undefined) return provider;
  throw wrongField("provider", `must be one of ${PROVIDERS.map((each) => each.id).join(", ")}`);
}

/**
 * The provider that a path names.
 *
 * @throws AppError NOT_FOUND for an unknown one
 */
export function requireProviderOfPath(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider === undefined) throw new AppError("NOT_FOUND", "Provider not found");
  return provider;
}

/** @throws AppError BAD_REQUEST for a name that is empty, too long or can't be stored */
export function requireName(name: string, field = "name"): string {
  const { length } = Array.from(name);
  if (length < 1 || length > NAME_CHARS_MAX) {
    throw wrongField(field, `must have 1 to ${NAME_CHARS_MAX} characters`);
  }
  if (!isStorableText(name)) {
    throw wrongField(field, "must not contain NUL or unpaired surrogates");
  }
  return name;
}

/**
 * The caller's metadata as sent; null without any.
 *
 * @throws AppError BAD_REQUEST
 */
export function requireMetadata(json: string): {
  json: string | null;
  members: Readonly<Record<string, unknown>>;
} {
  if (json === "") return { json: null, members: {} };
  if (Buffer.byteLength(json) > METADATA_BYTES_MAX) {
    throw wrongField("metadata", `must have at most ${METADATA_BYTES_MAX / 1024} KiB`);
  }
  const value = parseJson(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrongField("metadata", "must be a JSON object");
  }
  if (
    !isStorableText(json) ||
    json.includes(String.raw`\u0000`) ||
    isDeeperThan(value, NESTING_MAX)
  ) {
    throw wrongField("metadata", "must not contain NUL or nest deeper than 64 levels");
  }
  return { json, members: Object.fromEntries(Object.entries(value)) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}
