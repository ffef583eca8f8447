import { invalidRequest } from "@workflow/errors";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/**
 * The number of entries on a page; 0, the value of an unset field, means 50.
 *
 * @throws AppError BAD_REQUEST
 */
export function parseLimit(limit: number): number {
  if (limit === 0) return LIMIT_DEFAULT;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw invalidRequest([{ path: ["limit"], message: `must be between 1 and ${LIMIT_MAX}` }]);
}
