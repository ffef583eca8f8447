import { z } from "zod";
import { anyJson, namesOf, prefixedId, timeText, uuidText } from "../answer-schemas.ts";
import { runIdSchema } from "../runs/run-schema.ts";
import { jsonSchemaSchema } from "../workflows/definition-schema.ts";
import { APPROVAL_STATUSES } from "./approval-json.ts";

/** A decision for which a run waits (D29). */
export const approvalSchema = z
  .strictObject({
    id: prefixedId("apr_").describe("The approval's id."),
    runId: runIdSchema.describe("The run that waits, or waited."),
    workflowId: uuidText.describe("The run's workflow."),
    stepId: z.string().meta({ examples: ["release"] }),
    path: z
      .string()
      .describe("Where in the workflow the step stands.")
      .meta({ examples: ["release"] }),
    status: namesOf(APPROVAL_STATUSES)
      .describe("cancelled: the run ended before anybody decided.")
      .meta({ examples: ["waiting"] }),
    message: z
      .string()
      .describe("What is to be decided.")
      .meta({ examples: ["Pay the invoice?"] }),
    form: jsonSchemaSchema
      .nullable()
      .describe("What the data of the decision has to fit; null where anything goes."),
    timeoutAt: timeText.nullable().describe("Until when it can be decided; null: for ever."),
    createdAt: timeText,
    decidedAt: timeText.nullable().describe("Null until it is decided."),
    decidedBy: z
      .string()
      .nullable()
      .describe("The id of the person or API key that decided; null where nobody has.")
      .meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] }),
    comment: z
      .string()
      .nullable()
      .describe("What was said about the decision; null where nothing.")
      .meta({ examples: ["Checked with the supplier."] }),
    data: anyJson
      .describe("What came with the decision, any JSON; null where nothing.")
      .meta({ examples: [{ amount: 120 }] }),
  })
  .meta({ id: "Approval", description: "A decision that a run waits for, or waited for." });
