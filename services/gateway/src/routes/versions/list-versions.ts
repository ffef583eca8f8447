import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageLimit } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { versionJson } from "./version-json.ts";
import { versionListSchema } from "./version-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

const LIMIT_MAX = 1_000;

export const listVersions = route({
  method: "GET",
  path: "/workflows/{id}/versions",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the versions of a workflow",
  description: [
    "The newest version comes first, with the current one at the head.",
    "Only changes of an active workflow and rollbacks make versions.",
  ],
  params: { id: "The workflow's id." },
  query: z.object({
    limit: pageLimit({ max: LIMIT_MAX, otherwise: LIMIT_MAX }),
    cursor: z.string().default(""),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "The versions; there is a cursor only where they are too many for one answer.",
      data: versionListSchema,
      meta: pageMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params, query }) => {
    const { workflowId, currentVersion, versions, page } = await workflows.listVersions(
      { workflowId: params.id, ...query },
      call,
    );
    return {
      status: 200,
      data: {
        workflowId,
        currentVersion,
        versions: versions.map((version) =>
          // The contract's record of the current version has no time in the list.
          versionJson(version.isCurrent ? { ...version, createdAt: undefined } : version),
        ),
      },
      meta: pageMeta(page),
    };
  },
});
