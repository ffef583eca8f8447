import { z } from "zod";
import { anyObject, namesOf, prefixedId, timeText, uuidText } from "../answer-schemas.ts";
import { canvasFieldSchemas, canvasStateSchema } from "../canvas/canvas-schema.ts";
import {
  jsonSchemaSchema,
  settingsSchema,
  stepSchema,
  triggerSchema,
} from "./definition-schema.ts";
import { EXPORT_FORMAT_VERSION } from "./export-format.ts";
import { WORKFLOW_STATUSES } from "./workflow-json.ts";

export const workflowIdSchema = uuidText.describe("The workflow's id.");

const workflowStatusSchema = namesOf(WORKFLOW_STATUSES)
  .describe("New workflows are drafts; only active ones run.")
  .meta({ examples: ["active"] });

const versionSchema = z
  .int()
  .min(1)
  .describe("Starts at 1.")
  .meta({ examples: [3] });

/** The author's part of a workflow. */
const contentFields = {
  trigger: triggerSchema,
  steps: z.array(stepSchema).describe("In the order in which they run."),
  inputSchema: jsonSchemaSchema
    .nullable()
    .describe("What a run's input has to fit; null: any object."),
  outputSchema: jsonSchemaSchema
    .nullable()
    .describe("What a run's output has to fit; null: anything."),
  settings: settingsSchema.nullable().describe("Null where none were given."),
};

/** A workflow with its steps. */
export const workflowSchema = z
  .strictObject({
    id: workflowIdSchema,
    name: z
      .string()
      .describe("1 to 255 characters.")
      .meta({ examples: ["Greet customers"] }),
    description: z.string().optional().describe("Left out where there is none."),
    status: workflowStatusSchema,
    version: versionSchema,
    ...contentFields,
    clonedFrom: uuidText
      .optional()
      .describe("The workflow that it was copied from; only of a copy."),
    createdAt: timeText,
    updatedAt: timeText,
    canvasState: canvasStateSchema
      .optional()
      .describe("The visual editor's state; only of a single workflow that has one."),
    isVisual: z
      .literal(true)
      .optional()
      .describe("Whether it has a state of the visual editor; left out where it has none."),
    lastSavedAt: canvasFieldSchemas.lastSavedAt.optional(),
    lastModifiedAt: canvasFieldSchemas.lastModifiedAt.optional(),
  })
  .meta({ id: "Workflow", description: "A workflow: what starts it, and its steps in order." });

/** The answer to a rollback. */
export const rolledBackSchema = workflowSchema
  .extend({
    rolledBackFrom: versionSchema.describe("The version that was current before."),
    rolledBackTo: versionSchema.describe("The version whose content it has again."),
  })
  .meta({
    id: "RolledBackWorkflow",
    description: "A workflow with the content of an older version.",
  });

const texts = z.array(z.string());

/** The answer to an import. */
export const importedWorkflowSchema = workflowSchema
  .extend({
    requires: z
      .strictObject({
        secrets: texts
          .describe("Keys of secrets that steps name.")
          .meta({ examples: [["API_TOKEN"]] }),
        connections: texts
          .describe(
            "Providers that an active connection is needed of, and ids of connections that steps name.",
          )
          .meta({ examples: [["slack"]] }),
        agents: texts
          .describe("Ids of agents that steps ask.")
          .meta({ examples: [["agent_extraction"]] }),
      })
      .describe("What the workflow needs before it can run."),
  })
  .meta({
    id: "ImportedWorkflow",
    description: "A workflow that was imported, and what it needs.",
  });

/** The answer to an export. */
export const workflowExportSchema = z
  .strictObject({
    formatVersion: z.literal(EXPORT_FORMAT_VERSION).describe("The form of this document."),
    name: z.string().meta({ examples: ["Greet customers"] }),
    description: z.string().nullable().describe("Null where there is none."),
    ...contentFields,
    canvasState: canvasStateSchema.nullable().describe("Null where it has no canvas."),
  })
  .meta({
    id: "WorkflowExport",
    description: "What the author of a workflow wrote, as POST /workflows/import takes it.",
  });

/** The answer to a pause. */
export const pausedSchema = z
  .strictObject({ id: workflowIdSchema, status: z.literal("paused") })
  .meta({ id: "PausedWorkflow", description: "A workflow that is paused now." });

/** The answer to an activation. */
export const activatedSchema = z
  .strictObject({
    id: workflowIdSchema,
    status: z.literal("active"),
    schedule: z
      .strictObject({
        id: prefixedId("sched_"),
        triggerScheduleId: prefixedId("timer_").describe("What the task runtime calls it."),
        nextRunAt: timeText.nullable().describe("Null while it is disabled."),
      })
      .optional()
      .describe("Only of a workflow with a schedule trigger."),
  })
  .meta({ id: "ActivatedWorkflow", description: "A workflow that is active now." });

const planProblem = z.strictObject({
  path: texts
    .describe(
      "Where in the definition, or behind `input` in the input; places of arrays as digits.",
    )
    .meta({ examples: [["steps", "0", "config", "mapping"]] }),
  message: z.string().meta({ examples: ["is required"] }),
});

/** The answer to a plan (D24). */
export const workflowPlanSchema = z
  .strictObject({
    valid: z.boolean().describe("Whether there are no problems."),
    problems: z.array(planProblem).describe("At most 50."),
    steps: z
      .array(
        z.strictObject({
          id: z.string().meta({ examples: ["greet"] }),
          path: z
            .string()
            .describe("Ids from the top down, joined by dots.")
            .meta({ examples: ["greet"] }),
          type: z.string().meta({ examples: ["transform"] }),
          action: z.string().optional().describe("Only of steps of type action."),
          resolvedConfig: anyObject.describe(
            "The config, the templates resolved that are known before the run; without nested steps.",
          ),
        }),
      )
      .describe("In the definition's order, nested ones after the step that holds them."),
    missing: z
      .strictObject({
        secrets: texts.describe("Keys that steps name and the workflow has no secret of."),
        connections: texts.describe("Providers without an active connection that could be used."),
        connectionIds: texts.describe("Connections that steps name and that are not active."),
        choices: texts.describe(
          "Providers with several active connections, of which none is named.",
        ),
        agents: texts.describe("Agents that steps ask and that can't be asked."),
      })
      .describe("What a run would need and is not there."),
    nextRunAt: z
      .array(timeText)
      .optional()
      .describe("The next five firings; only of a workflow with a schedule trigger."),
  })
  .meta({ id: "WorkflowPlan", description: "What a run of a workflow would do." });
