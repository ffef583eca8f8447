import { z } from "zod";
import { namesOf } from "../answer-schemas.ts";
import { jsonObject } from "../fields.ts";
import { shownAsComponent } from "../shown-as.ts";
import { WIDGET_TYPES } from "./dashboard-json.ts";
import { widgetConfigSchema } from "./widget-config-schema.ts";

/*
 * What bodies say of dashboards. Names, titles and places are the workflows service's to judge; the
 * description has its rules.
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

/** What a widget shows. */
export const widgetConfig = shownAsComponent(jsonObject, widgetConfigSchema);

/** How often a widget's data is asked for anew. */
export const refresh = z
  .object({
    intervalMs: z
      .int("must be a whole number of milliseconds")
      .describe("Milliseconds, from a second to a day.")
      .meta({ override: { minimum: 1_000, maximum: 86_400_000 }, examples: [60_000] }),
  })
  .describe("How often the data is asked for anew; by default once a minute.");

/** A column, a row or a number of them; which are possible is the service's to say. */
const gridNumber = z.int("must be a whole number");

/** Where a widget lies on a grid of 12 columns. */
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

/** The size that a widget would have. */
export const widgetSize = gridNumber
  .min(1, "must be from 1 to 12")
  .max(12, "must be from 1 to 12")
  .optional();
