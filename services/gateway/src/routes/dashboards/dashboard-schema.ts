import { z } from "zod";
import { namesOf, timeText, uuidText } from "../answer-schemas.ts";
import { WIDGET_TYPES } from "./dashboard-json.ts";
import { widgetConfigSchema } from "./widget-config-schema.ts";

const widgetId = uuidText.describe("The widget's id.");

/** The position of a widget on the grid of 12 columns. */
const placeFields = {
  x: z
    .int()
    .min(0)
    .max(11)
    .describe("The first column, from 0.")
    .meta({ examples: [0] }),
  y: z
    .int()
    .min(0)
    .describe("The first row, from 0.")
    .meta({ examples: [4] }),
  w: z
    .int()
    .min(1)
    .max(12)
    .describe("How many columns it takes.")
    .meta({ examples: [6] }),
  h: z
    .int()
    .min(1)
    .max(12)
    .describe("How many rows it takes.")
    .meta({ examples: [4] }),
};

/** The positions of all widgets of a dashboard. */
export const layoutSchema = z
  .strictObject({
    widgets: z
      .array(z.strictObject({ id: widgetId, ...placeFields }))
      .describe("In row and column order."),
    updatedAt: timeText.describe("When the dashboard was last changed."),
  })
  .meta({ id: "DashboardLayout", description: "Where all widgets of a dashboard lie." });

/** A widget and its position. */
export const widgetSchema = z
  .strictObject({
    id: widgetId,
    type: namesOf(WIDGET_TYPES)
      .describe("How it is shown.")
      .meta({ examples: ["line"] }),
    title: z
      .string()
      .describe("At most 255 characters; may be empty.")
      .meta({ examples: ["Runs"] }),
    config: widgetConfigSchema.describe("What it shows."),
    refresh: z
      .strictObject({
        intervalMs: z
          .int()
          .min(1_000)
          .max(86_400_000)
          .meta({ examples: [60_000] }),
      })
      .describe("How often its data is asked for anew, in milliseconds."),
    ...placeFields,
  })
  .meta({ id: "Widget", description: "A widget of a dashboard and where it lies." });

/** The answer to a change of a widget. */
export const changedWidgetSchema = widgetSchema
  .extend({ layout: layoutSchema })
  .meta({ id: "ChangedWidget", description: "A widget, and where all of its dashboard lie now." });

/** The answer to the deletion of a widget. */
export const removedWidgetSchema = z
  .strictObject({ deleted: z.literal(true), layout: layoutSchema })
  .meta({ id: "RemovedWidget", description: "Where the widgets that are left lie now." });

/** A dashboard in a list. */
export const dashboardSummarySchema = z
  .strictObject({
    id: uuidText.describe("The dashboard's id."),
    name: z
      .string()
      .describe("1 to 255 characters.")
      .meta({ examples: ["Operations"] }),
    description: z.string().optional().describe("Left out where there is none."),
    ownerId: uuidText.describe("The person who made it and may change it."),
    widgetCount: z
      .int()
      .min(0)
      .max(40)
      .describe("How many widgets it has.")
      .meta({ examples: [1] }),
    createdAt: timeText,
    updatedAt: timeText,
  })
  .meta({ id: "DashboardSummary", description: "A dashboard without its widgets." });

/** A dashboard with its widgets. */
export const dashboardSchema = dashboardSummarySchema
  .extend({ widgets: z.array(widgetSchema).describe("In row and column order.") })
  .meta({ id: "Dashboard", description: "A dashboard with its widgets." });
