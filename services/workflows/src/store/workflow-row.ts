import { sql } from "@workflow/db";
import { z } from "zod";
import { STATUSES } from "../domain/status.ts";

/** A workflow as stored. Definition fields hold the caller's JSON text, unparsed. */
export const workflowRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(STATUSES),
  version: z.number(),
  triggerJson: z.string(),
  stepsJson: z.string(),
  inputSchemaJson: z.string().nullable(),
  outputSchemaJson: z.string().nullable(),
  settingsJson: z.string().nullable(),
  clonedFrom: z.string().nullable(),
  contentRevision: z.number(),
  deployRevision: z.number(),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A workflow as stored. */
export type WorkflowRow = z.infer<typeof workflowRow>;

/** The state of the visual editor, as stored beside a workflow. */
export const canvasRow = z.object({
  stateJson: z.string(),
  savedAt: z.date(),
  modifiedAt: z.date(),
});

/** The state of the visual editor, as stored beside a workflow. */
export type CanvasRow = z.infer<typeof canvasRow>;

/** The key of one workflow of one company. */
export interface WorkflowKey {
  companyId: string;
  workflowId: string;
}

/** The columns of `workflowRow`, from a table or query with the alias `workflow`. */
export const workflowColumns = sql.fragment`
  workflow.id,
  workflow.name,
  workflow.description,
  workflow.status,
  workflow.version,
  workflow.trigger::text as "triggerJson",
  workflow.steps::text as "stepsJson",
  workflow.input_schema::text as "inputSchemaJson",
  workflow.output_schema::text as "outputSchemaJson",
  workflow.settings::text as "settingsJson",
  workflow.cloned_from as "clonedFrom",
  workflow.content_revision as "contentRevision",
  workflow.deploy_revision as "deployRevision",
  workflow.created_at as "createdAt",
  workflow.updated_at as "updatedAt"
`;
