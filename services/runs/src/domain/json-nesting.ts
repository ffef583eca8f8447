import { JSON_DEPTH_MAX } from "@workflow/json";

/**
 * Whether a value nests more containers than templates can hand on. Values from outside are checked once,
 * where they enter: beyond some thousand levels `JSON.stringify` and Postgres fail.
 */
export function nestsTooDeep(value: unknown, levels: number = JSON_DEPTH_MAX): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => nestsTooDeep(item, levels - 1));
}
