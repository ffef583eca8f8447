import { AppError } from "@workflow/errors";

/** Whether a time is in the years 1 to 9999 (UTC). A Timestamp has a wider range than a Date and Postgres. */
export function isStorableTime(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/**
 * An optional Timestamp of a request, or null when it is missing.
 *
 * @throws AppError BAD_REQUEST that names the field, for a time before the year 1 or after 9999
 */
export function parseTime(field: string, time: Date | undefined): Date | null {
  if (time === undefined) return null;
  if (isStorableTime(time)) return time;
  const description = "must be a time of the years 1 to 9999";
  throw new AppError("BAD_REQUEST", `${field} ${description}.`, {
    violations: [{ path: [field], message: description }],
  });
}
