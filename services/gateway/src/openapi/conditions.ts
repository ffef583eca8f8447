import type { Route } from "../route-table-entry.ts";

/**
 * Whether a read may be repeated on condition that there is something new (`If-None-Match`, 304): that of one object,
 * and others that say so.
 */
export function isConditionalRead({ method, isSingle, contentTypes, responses }: Route): boolean {
  if (method !== "GET" || !contentTypes.includes("application/json")) return false;
  return isSingle || Object.values(responses).some(({ headers }) => headers?.includes("ETag"));
}
