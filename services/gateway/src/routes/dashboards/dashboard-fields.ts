import { z } from "zod";
import { namesOf } from "../answer-schemas.ts";
import { jsonObject } from "../fields.ts";
import { shownAsComponent } from "../shown-as.ts";
import { WIDGET_TYPES } from "./dashboard-json.ts";
import { widgetConfigSchema } from "./widget-config-schema.ts";

/**
 * The fields of dashboards in bodies. The workflows service checks names, titles and positions; the
 * description states its rules.
 */

/** The name of a dashboard. */
export const dashboardName = z
  .string()
  .describe("1 to 255 characters.")
  .meta({ minLength: 1, maxLength: 255, examples: ["Operations"] });

/** The description of a dashboard. */
export const dashboardDescription = z
  .string()
  .nullish()
  .describe("For people; null and an empty text stand for none.");

/** The type of a widget by its name. */
export const widgetType = namesOf(WIDGET_TYPES)
  .transform((name) => WIDGET_TYPES[name])
  .describe("How it is shown.");

/** The title of a widget. */
export const widgetTitle = z
  .string()
  .describe("At most 255 characters.")
  .meta({ maxLength: 255, examples: ["Runs"] });

/** The content of a widget. */
export const widgetConfig = shownAsComponent(jsonObject, widgetConfigSchema);

/** The interval at which a widget's data is read again. */
export const refresh = z
  .object({
    intervalMs: z
      .int("must be a whole number of milliseconds")
      .describe("Milliseconds, from a second to a day.")
      .meta({ override: { minimum: 1_000, maximum: 86_400_000 }, examples: [60_000] }),
  })
  .describe("How often the data is asked for anew; by default once a minute.");

/** A column, a row or a count of them; the service checks the range. */
const gridNumber = z.int("must be a whole number");

/** The position of a widget on the grid of 12 columns. */
export const placeFields = {
  x: gridNumber
    .describe("The first column, from 0.")
    .meta({ override: { minimum: 0, maximum: 11 }, examples: [0] }),
  y: gridNumber
    .describe("The first row, from 0.")
    .meta({ override: { minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 12 }, examples: [4] }),
  w: gridNumber
    .describe("How many columns it takes; x + w is at most 12.")
    .meta({ override: { minimum: 1, maximum: 12 }, examples: [6] }),
  h: gridNumber
    .describe("How many rows it takes.")
    .meta({ override: { minimum: 1, maximum: 12 }, examples: [4] }),
};

/** The requested size of a widget. */
export const widgetSize = gridNumber
  .min(1, "must be from 1 to 12")
  .max(12, "must be from 1 to 12")
  .optional();
