import { changesBetween, unchanged } from "@workflow/audit";
import { isId } from "@workflow/db";
import { compileJsonSchema } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval, DecideApprovalRequest } from "@workflow/proto/runs/v1/approvals";
import { isStorableText, parseJsonText } from "@workflow/json";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { mayDecide } from "../operations/may-decide.ts";
import {
  decideApproval as decideRow,
  findOpenApproval,
  getUndecidableStatus,
} from "../store/approvals.ts";
import type { ApprovalKey, Decision } from "../store/approvals.ts";
import { toApprovalMessage } from "./approval-message.ts";

const COMMENT_CHARS_MAX = 4_000;
/** The same limit as for the input of a run (D4). */
const DATA_BYTES_MAX = 1024 * 1024;

/** Decides a waiting approval; the run goes on. */
export function decideApproval(
  context: ServiceContext,
): UnaryMethod<DecideApprovalRequest, Approval> {
  const { database } = context;
  return rpc({
    scopes: "workflows:execute",
    async handler(request, caller) {
      const { companyId, principal } = caller.identity;
      const parsed = parseRequest(request);
      const { runId, approvalId } = request;
      if (!isId("run_", runId) || !isId("apr_", approvalId)) throw approvalNotFound();
      const key = { companyId, runId, approvalId };
      const open = await findOpenApproval(database, key);
      if (open === null) throw approvalNotFound();
      if (!mayDecide(open.approvers, principal)) {
        throw new AppError("FORBIDDEN", "Only the approvers whom the step names may decide.");
      }
      assertFits(open.form, parsed);
      if (open.status !== "waiting") throw undecidable(open.status);
      const decision = { ...parsed.decision, decidedBy: principal.id };
      const row = await decideAndWake(context, key, decision, caller);
      if (row === null) throw undecidable(await getUndecidableStatus(database, key));
      return toApprovalMessage(row);
    },
  });
}

async function decideAndWake(
  { audit, database, runtime }: ServiceContext,
  key: ApprovalKey,
  decision: Decision,
  caller: RpcContext,
) {
  const decided = await database.transaction(async (transaction) => {
    // The task comes first, in the order in which workers lock. A run that is woken without a reason
    // rests again.
    await runtime.wake(transaction, [key.runId]);
    const row = await decideRow(transaction, key, decision);
    if (row === null) return null;
    // The comment and the data stay out: people may have put anything into them. They are stored with the
    // approval.
    await audit.record(transaction, caller, {
      action: "approval.decided",
      resourceType: "run",
      resourceId: key.runId,
      changes: {
        ...unchanged({ approvalId: row.id, stepId: row.stepId }),
        ...changesBetween({ decision: null }, { decision: row.status }),
      },
    });
    return row;
  });
  audit.wake();
  return decided;
}

interface ParsedDecision {
  decision: Omit<Decision, "decidedBy">;
  /** The data, parsed; undefined when there is none. */
  value: unknown;
}

function parseRequest({ decision, comment, dataJson }: DecideApprovalRequest): ParsedDecision {
  const status = parseStatus(decision);
  if (comment !== undefined) {
    const fits = Array.from(comment).length <= COMMENT_CHARS_MAX && isStorableText(comment);
    if (!fits) {
      throw badRequest("comment", `must be at most ${COMMENT_CHARS_MAX} characters of text`);
    }
  }
  return {
    decision: { status, comment: comment ?? null, data: dataJson ?? null },
    value: dataJson === undefined ? undefined : parseData(dataJson),
  };
}

function parseStatus(decision: ApprovalStatus): Decision["status"] {
  if (decision === ApprovalStatus.APPROVED) return "approved";
  if (decision === ApprovalStatus.REJECTED) return "rejected";
  throw badRequest("decision", "must be approved or rejected");
}

/** Any JSON value. As the only item of an array it can be read like other documents. */
function parseData(text: string): unknown {
  if (Buffer.byteLength(text) > DATA_BYTES_MAX) {
    throw new AppError("PAYLOAD_TOO_LARGE", `data is larger than ${DATA_BYTES_MAX} bytes.`);
  }
  const parsed = parseJsonText(`[${text}]`, "array");
  if (!parsed.ok) throw badRequest("data", parsed.message);
  if (!Array.isArray(parsed.value) || parsed.value.length !== 1) {
    throw badRequest("data", "must be one JSON value");
  }
  return parsed.value[0];
}

/**
 * Checks data against the form. An approval without data counts as one with an empty object. A rejection
 * needs no data.
 */
function assertFits(form: string | null, { decision, value }: ParsedDecision): void {
  if (form === null || (value === undefined && decision.status === "rejected")) return;
  const schema = compileJsonSchema(JSON.parse(form));
  if (!schema.ok) throw new Error("the form of a stored approval does not compile");
  const violations = schema
    .validate(value === undefined ? {} : value)
    .map(({ path, message }): Violation => ({ path: ["data", ...path], message }));
  if (violations.length === 0) return;
  throw new AppError("BAD_REQUEST", "data does not fit the approval's form.", { violations });
}

function undecidable(status: string): AppError {
  return new AppError("CONFLICT", `The approval is ${status} and cannot be decided.`, {
    details: { status },
  });
}

function approvalNotFound(): AppError {
  return new AppError("NOT_FOUND", "Approval not found");
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
