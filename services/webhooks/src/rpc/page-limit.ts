import { AppError } from "@workflow/errors";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/**
 * The number of items on a page (D6); 0 asks for the default.
 *
 * @throws AppError BAD_REQUEST
 */
export function parseLimit(limit: number): number {
  if (limit === 0) return LIMIT_DEFAULT;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  const message = `must be between 1 and ${LIMIT_MAX}`;
  throw new AppError("BAD_REQUEST", `The field limit ${message}.`, {
    violations: [{ path: ["limit"], message }],
  });
}
