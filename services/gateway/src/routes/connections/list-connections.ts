import { ConnectionStatus } from "@workflow/proto/integrations/v1/connections";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields, queryInteger } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { CONNECTION_STATUSES, connectionJson } from "./connection-json.ts";

export const listConnections = route({
  method: "GET",
  path: "/connections",
  scope: "connections:read",
  bucket: "read",
  summary: "List connections, newest first; abandoned ones only when asked for",
  params: {},
  query: z.object({
    provider: z.string().default(""),
    status: z
      .enum(["pending", "active", "error", "expired", "disconnected", "abandoned"])
      .optional(),
    ...pageFields,
    limit: queryInteger({ min: 1, max: 100 }).default(20),
  }),
  body: NO_BODY,
  responses: { 200: "A page of connections." },
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
