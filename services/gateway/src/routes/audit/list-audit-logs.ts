import { z } from "zod";
import { RawJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { NO_BODY, route } from "../../route.ts";
import type { AuditRow } from "../../store/audit-list.ts";
import { pageFields, timestamp } from "../fields.ts";
import { auditEventSchema } from "./audit-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

const ACTION = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/;
const ID_CHARS_MAX = 255;

const someId = z
  .string()
  .min(1, "must not be empty")
  .max(ID_CHARS_MAX, `must have at most ${ID_CHARS_MAX} characters`);

export const listAuditLogs = route({
  method: "GET",
  path: "/audit-logs",
  scope: "audit:read",
  bucket: "read",
  summary: "List who changed what",
  description: [
    "The newest change comes first, with who made it, from where, and what changed.",
    "The entries cannot be changed or removed through the API.",
    "They are written in the background, so that one may show up a moment after its change.",
  ],
  params: {},
  query: z
    .object({
      action: z
        .string()
        .max(100)
        .regex(ACTION, "must be an action such as workflow.created")
        .describe("Only changes of this kind.")
        .meta({ examples: ["workflow.created"] }),
      resourceType: z
        .string()
        .regex(/^[a-z][a-z_]{0,63}$/, "must be a type such as workflow")
        .describe("Only changes of such things.")
        .meta({ examples: ["workflow"] }),
      resourceId: someId.describe("Only changes of this thing."),
      actorId: someId.describe("Only what this person or API key did."),
      from: timestamp.describe("Only changes then or later."),
      to: timestamp.describe("Only changes earlier."),
    })
    .partial()
    .extend(pageFields)
    .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
      path: ["to"],
      message: "must not be before from",
    }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of changes.",
      data: z.array(auditEventSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ auditLog, identity }, { query }) => {
    const { limit, cursor, ...filters } = query;
    const page = await auditLog.list(
      {
        companyId: identity.companyId,
        action: filters.action ?? null,
        resourceType: filters.resourceType ?? null,
        resourceId: filters.resourceId ?? null,
        actorId: filters.actorId ?? null,
        from: filters.from ?? null,
        to: filters.to ?? null,
      },
      { limit, cursor },
    );
    return {
      status: 200,
      data: page.rows.map(auditJson),
      meta: { cursor: page.cursor, hasMore: page.cursor !== null },
    };
  },
});

function auditJson({ actorType, actorId, actorName, changesJson, ...row }: AuditRow): Writable {
  return {
    id: row.id,
    action: row.action,
    resourceType: row.resourceType,
    resourceId: row.resourceId,
    actor: { type: actorType, id: actorId, name: actorName },
    ipAddress: row.ipAddress,
    userAgent: row.userAgent,
    requestId: row.requestId,
    changes: new RawJson(changesJson),
    createdAt: row.createdAt,
  };
}
