import { DEFINITION_LIMITS } from "@workflow/definition";

/**
 * Whether a value nests more containers than templates can hand on. Values from outside are checked once,
 * where they enter: beyond some thousand levels `JSON.stringify` and Postgres fail.
 */
export function nestsTooDeep(
  value: unknown,
  levels: number = DEFINITION_LIMITS.jsonDepthMax,
): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => nestsTooDeep(item, levels - 1));
}
