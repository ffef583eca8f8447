import { z } from "zod";
import { anyJson, timeText, uuidText } from "../answer-schemas.ts";
import { stepSchema, triggerSchema } from "../workflows/definition-schema.ts";

const numberSchema = z
  .int()
  .min(1)
  .describe("The version's number.")
  .meta({ examples: [2] });

const recordFields = {
  version: numberSchema,
  name: z.string().meta({ examples: ["Greet customers"] }),
  description: z.string().nullable().describe("Null where there is none."),
  trigger: triggerSchema,
  steps: z.array(stepSchema),
  changeSummary: z
    .string()
    .nullable()
    .describe("Why the version was made; null where nobody said.")
    .meta({ examples: ["Greets by first name"] }),
  status: z
    .enum(["current", "archived"])
    .describe("current is the workflow as it is.")
    .meta({ examples: ["current"] }),
  isCurrent: z.boolean(),
};

/** A version of a workflow. */
export const versionRecordSchema = z
  .strictObject({ ...recordFields, createdAt: timeText })
  .meta({ id: "WorkflowVersion", description: "A version of a workflow." });

/** The answer of the list of versions. */
export const versionListSchema = z
  .strictObject({
    workflowId: uuidText.describe("The workflow's id."),
    currentVersion: numberSchema.describe("The number of the current version."),
    versions: z
      .array(
        z
          .strictObject({
            ...recordFields,
            createdAt: timeText.optional().describe("Left out of the current version."),
          })
          .meta({ id: "ListedVersion", description: "A version in the list of versions." }),
      )
      .describe("Newest first."),
  })
  .meta({ id: "WorkflowVersions", description: "The versions of a workflow." });

const changed = z.boolean().describe("Whether the versions differ in it.");
const stepIds = z.array(z.string()).meta({ examples: [["greet"]] });

const stepChangeSchema = z
  .strictObject({
    path: z
      .string()
      .describe("JSON pointer into the step (RFC 6901); empty for the step as a whole.")
      .meta({ examples: ["/config/mapping/text"] }),
    kind: z
      .enum(["added", "removed", "changed", "nested", "moved"])
      .describe(
        "nested: the step that stands there differs, and is listed by itself; moved: the step stands elsewhere, from and to are pointers into the workflow.",
      )
      .meta({ examples: ["changed"] }),
    from: anyJson.optional().describe("What was there; left out where there was nothing, or much."),
    to: anyJson.optional().describe("What is there; left out where there is nothing, or much."),
  })
  .meta({ id: "StepChange", description: "One difference between two versions of a step." });

/** The answer of the comparison of two versions. */
export const comparisonSchema = z
  .strictObject({
    fromVersion: numberSchema,
    toVersion: numberSchema,
    changes: z.strictObject({
      name: z.strictObject({ from: z.string(), to: z.string(), changed }),
      description: z.strictObject({
        from: z.string().nullable(),
        to: z.string().nullable(),
        changed,
      }),
      trigger: z.strictObject({ changed }),
      steps: z.strictObject({
        added: stepIds.describe("Ids of steps, nested ones included, that only `to` has."),
        removed: stepIds.describe("Ids of steps that only `from` has."),
        modified: stepIds.describe("Ids of steps that both have and that differ."),
        modifiedDetails: z
          .array(
            z.strictObject({
              id: z.string().meta({ examples: ["greet"] }),
              changes: z.array(stepChangeSchema),
              truncated: z
                .literal(true)
                .optional()
                .describe("There are more changes than are shown; else left out."),
            }),
          )
          .describe("For each modified step in which points."),
      }),
    }),
  })
  .meta({ id: "VersionComparison", description: "In what two versions of a workflow differ." });
