import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A whole number from 1 on. */
export function count(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(value);
}

const UNITS_MS = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/**
 * A day, which begins in UTC, or a moment with a zone. `Date` alone takes nearly anything, such as "5" for May.
 */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A moment: an ISO 8601 timestamp, or an age such as `15m`, `2h`, `7d`. */
export function moment(value: string): string {
  const ago = /^(\d{1,5})([mhd])$/.exec(value);
  if (ago !== null) {
    const unitMs = UNITS_MS.get(ago[2] ?? "") ?? 0;
    return new Date(Date.now() - Number(ago[1]) * unitMs).toISOString();
  }
  const parsed = TIMESTAMP.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(parsed)) {
    throw new InvalidArgumentError(
      "It must be a day such as 2027-02-01, a timestamp such as 2027-02-01T08:00:00Z, or a time ago such as 15m, 2h or 7d.",
    );
  }
  return new Date(parsed).toISOString();
}

/** Words separated by commas. */
export function words(value: string): string[] {
  return value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/**
 * An id, or another name that becomes part of a path. Names that would lead elsewhere are refused.
 */
export function objectId(value: string): string {
  if (value === "" || value === "." || value === "..") {
    throw new InvalidArgumentError("It must be an id.");
  }
  return value;
}

/** Adds an id to a list of ids. */
export function objectIds(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), objectId(value)];
}
