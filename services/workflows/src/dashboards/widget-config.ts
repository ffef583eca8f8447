import { isUuid } from "@workflow/db";
import { AppError, invalidRequest, nameFirst } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isJsonObject, isStorableText } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { below, readJson } from "../domain/json-text.ts";
import { BUCKETS_MAX, DURATION_MS_MAX, DURATION_MS_MIN, PERIOD_MS_DEFAULT } from "./period.ts";

const CONFIG_BYTES_MAX = 64 * 1024;
const MEASURES_MAX = 20;
const COLUMNS_MAX = 100;
const COLUMN_CHARS_MAX = 255;
const ROWS_MAX = 100;
const LIMIT = `must be a whole number from 1 to ${ROWS_MAX}`;
const TABLE = "must be the id of a table";
const COLUMN = "must be the id of a column";
/** The figures that a widget can compute from a table's rows (D36). */
const MEASURES = ["count", "sum", "avg", "min", "max"] as const;

const duration = durationSchema(DURATION_MS_MIN, DURATION_MS_MAX).optional();
const triggerTypes = ["api", "webhook", "schedule", "manual", "table"] as const;

/** The config of a widget about runs; unknown members are the editor's. */
const runsConfig = z
  .looseObject({
    source: z.literal("runs"),
    workflowId: z.string().refine(isUuid, "must be the id of a workflow").optional(),
    triggerType: z.enum(triggerTypes, `must be one of ${triggerTypes.join(", ")}`).optional(),
    periodMs: duration,
    bucketMs: duration,
  })
  .superRefine(({ periodMs = PERIOD_MS_DEFAULT, bucketMs = periodMs }, context) => {
    if (bucketMs <= periodMs && periodMs / bucketMs <= BUCKETS_MAX) return;
    const message = `must divide the period of ${periodMs} into 1 to ${BUCKETS_MAX} buckets`;
    context.addIssue({ code: "custom", path: ["bucketMs"], message });
  });

const columnId = z
  .string(COLUMN)
  .refine((id) => id !== "" && id.length <= COLUMN_CHARS_MAX && isStorableText(id), COLUMN);
const measureSchema = z.object(
  {
    fn: z.enum(MEASURES, `must be one of ${MEASURES.join(", ")}`),
    column: columnId.optional(),
  },
  "must be an object such as {fn: sum, column: <id>}",
);

/** The config of a widget about the rows of a table. */
const tableConfig = z
  .looseObject({
    source: z.literal("table"),
    tableId: z.string(TABLE).refine(isUuid, TABLE),
    filter: z.custom<JsonObject>(isJsonObject, "must be an object").optional(),
    /** Figures: of all rows, or for each value of a column. */
    groupBy: columnId.optional(),
    measures: listOf(measureSchema, MEASURES_MAX).optional(),
    /** Rows: the filter, the order and the columns. */
    columns: listOf(columnId, COLUMNS_MAX).optional(),
    sort: columnId.optional(),
    order: z.enum(["asc", "desc"], "must be asc or desc").optional(),
    limit: z.int(LIMIT).min(1, LIMIT).max(ROWS_MAX, LIMIT).optional(),
  })
  .superRefine(({ measures = [] }, context) => {
    for (const [index, { fn, column }] of measures.entries()) {
      if (fn === "count" || column !== undefined) continue;
      const message = `is required: the column to compute the ${fn} of`;
      context.addIssue({ code: "custom", path: ["measures", index, "column"], message });
    }
  });
const ownConfig = z.looseObject({ source: z.undefined().optional() });

/** The content of a widget about a table. */
export type TableConfig = z.output<typeof tableConfig>;
/** The content of a widget about runs. */
export type RunsConfig = z.output<typeof runsConfig>;
/** The content of a widget, and its source; without a source it shows nothing. */
export type WidgetConfig = RunsConfig | TableConfig | z.output<typeof ownConfig>;

/**
 * Parses a config.
 *
 * @throws AppError BAD_REQUEST for a config that is no JSON object or has wrong members;
 * VALIDATION_ERROR for numbers that JavaScript cannot hold; PAYLOAD_TOO_LARGE above 64 KiB
 */
export function parseConfig(json: string): WidgetConfig {
  return requireConfig(parseObject(json));
}

/** The stored form of a config, see `readJson`. Throws as `parseConfig`. */
export function checkConfig(json: string): string {
  return toStored(parseObject(json));
}

/**
 * A stored config merged with another one; members that are null in it are removed (as in RFC 7396,
 * but not below the top). Throws as `parseConfig`.
 */
export function mergeConfig(storedJson: string, changesJson: string): string {
  const changes = parseObject(changesJson);
  // Entries, not assignments: a member may be called __proto__.
  const merged = Object.fromEntries(
    Object.entries({ ...parseObject(storedJson), ...changes }).filter(
      ([name, value]) => value !== null || !Object.hasOwn(changes, name),
    ),
  );
  return toStored(merged);
}

function toStored(config: JsonObject): string {
  requireConfig(config);
  const json = JSON.stringify(config);
  requireSize(json);
  return json;
}

function requireConfig(value: JsonObject): WidgetConfig {
  const result = schemaFor(value["source"]).safeParse(value, { error: explainIssue });
  if (result.success) return result.data;
  throw invalidRequest(
    result.error.issues.map(({ path, message }): Violation => ({
      path: ["config", ...path.map(String)],
      message,
    })),
  );
}

function schemaFor(source: unknown) {
  if (source === "runs") return runsConfig;
  return source === "table" ? tableConfig : ownConfig;
}

function explainIssue({ path }: z.core.$ZodRawIssue): string {
  return path?.[0] === "source" ? "must be runs or table" : "must be a string";
}

function parseObject(json: string): JsonObject {
  requireSize(json);
  const result = readJson(json, "object");
  if (result.ok && result.infinite.length > 0) {
    const violations = below(["config"], result.infinite);
    const message = nameFirst("The widget's config is not valid", violations);
    throw new AppError("VALIDATION_ERROR", message, { violations });
  }
  if (result.ok && isJsonObject(result.value)) return result.value;
  const message = result.ok ? "must be a JSON object" : result.message;
  throw invalidRequest([{ path: ["config"], message }]);
}

function requireSize(json: string): void {
  if (Buffer.byteLength(json) <= CONFIG_BYTES_MAX) return;
  const message = `A widget's config may have at most ${CONFIG_BYTES_MAX} bytes.`;
  throw new AppError("PAYLOAD_TOO_LARGE", message);
}

function listOf<Item extends z.ZodType>(item: Item, max: number) {
  const message = `must be an array with 1 to ${max} entries`;
  return z.array(item, message).min(1, message).max(max, message);
}

function durationSchema(min: number, max: number) {
  const message = `must be a whole number of milliseconds from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
}
