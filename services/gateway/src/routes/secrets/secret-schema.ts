import { z } from "zod";
import { timeText, uuidText } from "../answer-schemas.ts";
import { workflowIdSchema } from "../workflows/workflow-schema.ts";
import { SECRET_KEY_META } from "./secret-fields.ts";

/** A secret without its value. */
export const secretSchema = z
  .strictObject({
    id: uuidText.describe("The secret's id."),
    workflowId: workflowIdSchema.describe("The workflow that may use it."),
    key: z
      .string()
      .describe("What steps name it by: `{{ secrets.API_KEY }}`.")
      .meta(SECRET_KEY_META),
    maskedValue: z
      .string()
      .describe("`••••`, then the last four characters of a value of at least five.")
      .meta({ examples: ["••••9xQ2"] }),
    allowedHosts: z
      .array(z.string())
      .optional()
      .describe("The only hosts that it may be sent to; left out where it may go anywhere.")
      .meta({ examples: [["api.example.com"]] }),
    lastUsedAt: timeText
      .nullable()
      .describe("When a run last used it, to a few seconds; null: not yet."),
    createdAt: timeText,
    updatedAt: timeText.describe("When its value was last replaced."),
  })
  .meta({ id: "Secret", description: "A secret of a workflow, without its value." });
