import { z } from "zod";
import type { FlagValues } from "./command.ts";
import { UsageError } from "./usage-error.ts";

const time = z.iso.datetime({ offset: true });

/**
 * The value of a flag that takes a time which has passed.
 *
 * @throws UsageError naming the flag
 */
export function readPastTime(values: FlagValues, flag: string, now: Date): Date {
  const text = values.text(flag);
  if (!time.safeParse(text).success) {
    throw new UsageError(`--${flag} must be a time with its zone, such as 2026-01-31T12:00:00Z`);
  }
  const read = new Date(text);
  if (read > now) throw new UsageError(`--${flag} must be a time that has passed`);
  return read;
}
