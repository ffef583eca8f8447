import { z } from "zod";
import { canonicalTimeZone } from "../time-zone.ts";
import { templatable, templatableText } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";

/** Units of time of the `datetime` actions (D17). */
export const DATETIME_UNITS = [
  "milliseconds",
  "seconds",
  "minutes",
  "hours",
  "days",
  "weeks",
  "months",
  "years",
] as const;
/** How long a format may be. */
export const DATETIME_FORMAT_CHARS_MAX = 1_000;

const instant = z
  .union([z.string(), z.number()], {
    error: "must be an ISO timestamp, or a number of milliseconds since 1970",
  })
  .meta({ description: "An ISO timestamp, or a number of milliseconds since 1970" });
const unit = templatableText(z.enum(DATETIME_UNITS)).meta({ description: "The unit of time" });

export const datetimeFormat: ActionDefinition = {
  id: "datetime.format",
  title: "Format a time",
  description: "Writes a time as text.",
  inputs: z.looseObject({
    value: instant,
    format: z.string().min(1).max(DATETIME_FORMAT_CHARS_MAX).meta({
      description: "Luxon tokens, such as yyyy-MM-dd HH:mm",
    }),
    timezone: z
      .string()
      .refine((name) => name.includes("{{") || canonicalTimeZone(name) !== undefined, {
        error: "must be an IANA time zone such as Europe/Paris or UTC, or a template",
      })
      .optional()
      .meta({ description: "IANA time zone; UTC where none is given" }),
  }),
  outputs: ["text"],
};

export const datetimeAdd: ActionDefinition = {
  id: "datetime.add",
  title: "Add to a time",
  description: "Moves a time forwards, or backwards by a negative amount.",
  inputs: z.looseObject({
    value: instant,
    amount: templatable(z.number()).meta({ description: "How many units" }),
    unit,
  }),
  outputs: ["value"],
};

export const datetimeDiff: ActionDefinition = {
  id: "datetime.diff",
  title: "Difference of times",
  description: "Tells how long it is from one time to another, negative when it is backwards.",
  inputs: z.looseObject({ from: instant, to: instant, unit }),
  outputs: ["value"],
};
