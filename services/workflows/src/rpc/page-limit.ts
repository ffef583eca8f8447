import { badRequest } from "../domain/content.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** How many entries a page has; 0, which is what a caller sends who says nothing, is 50. Throws BAD_REQUEST. */
export function parseLimit(limit: number): number {
  if (limit === 0) return LIMIT_DEFAULT;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw badRequest([{ path: ["limit"], message: `must be between 1 and ${LIMIT_MAX}` }]);
}
