import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { APPROVAL_STATUSES, approvalJson } from "./approval-json.ts";
import { approvalSchema } from "./approval-schema.ts";

const COMMENT_CHARS_MAX = 4_000;

export const decideApproval = route({
  method: "POST",
  path: "/runs/{id}/approvals/{approvalId}",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "approval.decided",
  summary: "Approve or reject what a run waits for",
  description: [
    "An approval lets the run go on, with the decision as the step's output; a rejection fails the step.",
    "Where the step names approvers, only they may decide: others get FORBIDDEN.",
    "`data` has to fit the step's `form`, else BAD_REQUEST.",
    "An approval is decided once: CONFLICT when somebody did, or when its time is over.",
  ],
  params: { id: "The run's id.", approvalId: "The approval's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      decision: z.enum(["approved", "rejected"]).describe("A rejection fails the step."),
      comment: z
        .string()
        .refine(
          (text) => Array.from(text).length <= COMMENT_CHARS_MAX,
          `must have at most ${COMMENT_CHARS_MAX} characters`,
        )
        .optional()
        .describe("What there is to say about it.")
        .meta({ maxLength: COMMENT_CHARS_MAX, examples: ["Checked with the supplier."] }),
      data: z
        .unknown()
        .optional()
        .describe(
          "Any JSON that fits the approval's form, at most 1 MiB; the step's output has it.",
        )
        .meta({ examples: [{ amount: 120 }] }),
    }),
  },
  responses: {
    200: { description: "The decided approval; the run goes on.", data: approvalSchema },
  },
  errors: ["NOT_FOUND", "CONFLICT"],
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

/**
 * Steps may name approvers by e-mail address (D59); only this call passes the address to a service.
 */
function withEmail(identity: Identity, email: string): Identity {
  return { ...identity, principal: { ...identity.principal, email } };
}
