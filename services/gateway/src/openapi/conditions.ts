import type { Route } from "../route-table-entry.ts";

/**
 * Whether a read supports `If-None-Match` and 304: reads of one object do, and others that say so.
 */
export function isConditionalRead({ method, isSingle, contentTypes, responses }: Route): boolean {
  if (method !== "GET" || !contentTypes.includes("application/json")) return false;
  return isSingle || Object.values(responses).some(({ headers }) => headers?.includes("ETag"));
}
