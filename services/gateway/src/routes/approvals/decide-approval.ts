import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { APPROVAL_STATUSES, approvalJson } from "./approval-json.ts";

const COMMENT_CHARS_MAX = 4_000;

export const decideApproval = route({
  method: "POST",
  path: "/runs/{id}/approvals/{approvalId}",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "approval.decided",
  summary: "Approve or reject what a run waits for",
  params: { id: "The run's id.", approvalId: "The approval's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      decision: z.enum(["approved", "rejected"]),
      comment: z
        .string()
        .refine(
          (text) => Array.from(text).length <= COMMENT_CHARS_MAX,
          `must have at most ${COMMENT_CHARS_MAX} characters`,
        )
        .optional(),
      data: z.unknown().optional(),
    }),
  },
  responses: { 200: "The decided approval; the run goes on." },
  handler: async ({ approvals, call, identity, session }, { params, body, rawJson }) => {
    const { decision, comment } = body;
    const approval = await approvals.decideApproval(
      {
        runId: params.id,
        approvalId: params.approvalId,
        decision: APPROVAL_STATUSES[decision],
        comment,
        dataJson: rawJson("data"),
      },
      session === null ? call : { ...call, identity: withEmail(identity, session.email) },
    );
    return { status: 200, data: approvalJson(approval) };
  },
});

/** Steps may name their approvers by address (D59); no other call tells it to a service. */
function withEmail(identity: Identity, email: string): Identity {
  return { ...identity, principal: { ...identity.principal, email } };
}
