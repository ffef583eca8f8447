import { ConnectionStatus } from "@workflow/proto/integrations/v1/connections";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields, pageLimit } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { CONNECTION_STATUSES, connectionJson } from "./connection-json.ts";
import { pageMetaSchema } from "../answer-schemas.ts";
import { connectionStatus, listedConnectionSchema } from "./connection-schema.ts";

export const listConnections = route({
  method: "GET",
  path: "/connections",
  scope: "connections:read",
  bucket: "read",
  summary: "List connections",
  description: [
    "The newest connection comes first, without metadata and never with credentials.",
    "Attempts that were abandoned stand in the list only with `status=abandoned`.",
  ],
  params: {},
  query: z.object({
    provider: z
      .string()
      .default("")
      .describe("Only connections of the provider with this id; empty: of all."),
    status: connectionStatus
      .optional()
      .describe("Only connections of this status; all but abandoned ones by default."),
    ...pageFields,
    limit: pageLimit({ max: 100, otherwise: 20 }),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of connections.",
      data: z.array(listedConnectionSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ connections, call }, { query }) => {
    const { provider, status, limit, cursor } = query;
    const page = await connections.listConnections(
      {
        provider,
        status: status === undefined ? ConnectionStatus.UNSPECIFIED : CONNECTION_STATUSES[status],
        page: { limit, cursor },
      },
      call,
    );
    return { status: 200, data: page.connections.map(connectionJson), meta: pageMeta(page.page) };
  },
});
