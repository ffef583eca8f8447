import { RATE_LIMIT_MAX, setRateLimits } from "@workflow/service-gateway/admin";
import type { Command, FlagValues } from "./command.ts";
import { withDatabase } from "./database.ts";

/** Stands for the settings RATE_LIMIT_READ, RATE_LIMIT_WRITE and RATE_LIMIT_EXECUTE. */
const DEFAULT = "default";
const UNCHANGED = "unchanged";
const NUMBER_FLAG = { placeholder: `NUMBER|${DEFAULT}`, default: UNCHANGED };

/** Sets the limits of one company's callers. The settings hold for all others (D9). */
export const setRateLimitsCommand: Command = {
  summary:
    "Says how many requests a minute each key and user of a company has, see docs/limits.md; 0 is no limit.",
  flags: {
    company: { placeholder: "ID" },
    read: NUMBER_FLAG,
    write: NUMBER_FLAG,
    execute: NUMBER_FLAG,
  },
  async run(settings, values) {
    const companyId = values.text("company").toLowerCase();
    const request = {
      companyId,
      read: readLimit(values, "read"),
      write: readLimit(values, "write"),
      execute: readLimit(values, "execute"),
    };
    const limits = await withDatabase(settings, (database) => setRateLimits(database, request));
    const texts = Object.entries(limits).map(([bucket, limit]) => `${bucket} ${describe(limit)}`);
    return {
      json: { companyId, ...limits },
      text: `Of each caller of ${companyId}: ${texts.join(", ")}`,
    };
  },
};

function readLimit(values: FlagValues, name: string): number | null | undefined {
  const text = values.text(name);
  if (text === UNCHANGED) return undefined;
  return text === DEFAULT ? null : values.wholeNumber(name, 0, RATE_LIMIT_MAX);
}

function describe(limit: number | null): string {
  if (limit === null) return "as the settings say";
  return limit === 0 ? "without a limit" : `${limit} a minute`;
}
