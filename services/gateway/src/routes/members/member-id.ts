import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";

/**
 * The id of a person in the form of the database.
 *
 * @throws AppError NOT_FOUND for what is none (D1)
 */
export function memberId(userId: string): string {
  if (isUuid(userId)) return userId.toLowerCase();
  throw new AppError("NOT_FOUND", "Member not found");
}
