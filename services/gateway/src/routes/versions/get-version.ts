import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { versionJson } from "./version-json.ts";
import { toVersion } from "./version-number.ts";
import { versionRecordSchema } from "./version-schema.ts";

export const getVersion = route({
  method: "GET",
  path: "/workflows/{id}/versions/{version}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a version of a workflow",
  description: [
    "The current version and each archived one can be read by its number.",
    "A number that the workflow never had is NOT_FOUND.",
  ],
  params: { id: "The workflow's id.", version: "The version's number." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The version, the current one or an archived one.",
      data: versionRecordSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params }) => {
    const version = await workflows.getVersion(
      { workflowId: params.id, version: toVersion(params.version) },
      call,
    );
    return { status: 200, data: versionJson(version) };
  },
});
