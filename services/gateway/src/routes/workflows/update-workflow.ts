import { z } from "zod";
import { ifMatchOf } from "../../http/entity-tags.ts";
import { NO_QUERY, route } from "../../route.ts";
import {
  changeSummary,
  clearableFields,
  givenDescription,
  givenName,
  requiredFields,
  textUnlessNull,
} from "./definition-fields.ts";
import { workflowJson } from "./workflow-json.ts";
import { workflowSchema } from "./workflow-schema.ts";

/** The fields of the body, with their names in the update mask. */
const MASK_PATHS = [
  ["name", "name"],
  ["description", "description"],
  ["trigger", "trigger_json"],
  ["steps", "steps_json"],
  ["inputSchema", "input_schema_json"],
  ["outputSchema", "output_schema_json"],
  ["settings", "settings_json"],
] as const;

export const updateWorkflow = route({
  method: "PUT",
  path: "/workflows/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.updated",
  summary: "Change a workflow",
  description: [
    "Fields that are left out stay as they are.",
    "An active workflow gets a new version, and the version before goes into its history; runs that have begun keep theirs.",
    "A draft or paused workflow is changed in place, and its version stays.",
    "What an active workflow gets has to be complete and valid: else VALIDATION_ERROR, and nothing changes.",
    "With `If-Match` the change is made only while the workflow has that `ETag`, else PRECONDITION_FAILED.",
    "Changes that keep coming in between end in CONFLICT; repeat the request.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    schema: z
      .object({
        name: givenName.optional(),
        description: givenDescription,
        trigger: requiredFields.trigger.optional(),
        steps: requiredFields.steps.optional(),
        ...clearableFields,
        changeSummary,
      })
      .meta({ id: "WorkflowUpdate", description: "What to change about a workflow." }),
  },
  responses: {
    200: { description: "The workflow as it is now.", data: workflowSchema, headers: ["ETag"] },
  },
  errors: ["NOT_FOUND", "VALIDATION_ERROR", "CONFLICT", "PRECONDITION_FAILED"],
  handler: async ({ workflows, headers, call }, { params, body, rawJson }) => {
    const workflow = await workflows.updateWorkflow(
      {
        workflowId: params.id,
        // Absent fields stay unchanged; null clears a field, which the mask names without a value.
        updateMask: MASK_PATHS.filter(([field]) => body[field] !== undefined).map(
          ([, path]) => path,
        ),
        name: body.name,
        description: body.description ?? undefined,
        triggerJson: rawJson("trigger"),
        stepsJson: rawJson("steps"),
        inputSchemaJson: textUnlessNull(rawJson("inputSchema")),
        outputSchemaJson: textUnlessNull(rawJson("outputSchema")),
        settingsJson: textUnlessNull(rawJson("settings")),
        changeSummary: body.changeSummary ?? undefined,
        ifMatch: ifMatchOf(headers),
      },
      call,
    );
    return { status: 200, data: workflowJson(workflow), etag: workflow.etag };
  },
});
