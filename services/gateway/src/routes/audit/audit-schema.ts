import { z } from "zod";
import { prefixedId, timeText } from "../answer-schemas.ts";

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const ids = z.array(z.string());

const changeSchema = z
  .union([
    z.strictObject({ from: value, to: value }),
    z.strictObject({ changed: z.literal(true) }),
    z.strictObject({ added: ids, removed: ids, modified: ids }),
  ])
  .meta({
    id: "AuditChange",
    description:
      "What became of a field: its values (texts cut at 500 characters), only that it changed (documents and secrets), or the ids of a list's items (20 of each kind).",
    examples: [{ from: "draft", to: "active" }],
  });

/** One recorded change (D51). */
export const auditEventSchema = z
  .strictObject({
    id: prefixedId("evt_").describe("The event's id."),
    action: z
      .string()
      .describe("What was done.")
      .meta({ examples: ["workflow.activated"] }),
    resourceType: z
      .string()
      .describe("To what kind of thing.")
      .meta({ examples: ["workflow"] }),
    resourceId: z
      .string()
      .describe("To which one.")
      .meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] }),
    actor: z
      .strictObject({
        type: z
          .string()
          .describe("user, api_key or a part of the system.")
          .meta({ examples: ["user"] }),
        id: z.string().meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] }),
        name: z
          .string()
          .nullable()
          .describe("As it was then; null where none was known.")
          .meta({ examples: ["Ada"] }),
      })
      .describe("Who did it."),
    ipAddress: z
      .string()
      .nullable()
      .describe("Where the request came from; null where there was none.")
      .meta({ examples: ["203.0.113.7"] }),
    userAgent: z
      .string()
      .nullable()
      .describe("The program that sent it; null where it did not say."),
    requestId: z
      .string()
      .nullable()
      .describe("The request's X-Request-Id; null where there was none."),
    changes: z
      .record(z.string(), changeSchema)
      .describe("By field; at most 16 KiB.")
      .meta({ examples: [{ status: { from: "draft", to: "active" } }] }),
    createdAt: timeText,
  })
  .meta({ id: "AuditEvent", description: "One change that somebody made." });
