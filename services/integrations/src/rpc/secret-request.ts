import { isUuid } from "@workflow/db";
import { secretKeyProblem, secretValueProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";
import type { SecretPlace, WorkflowKey } from "../domain/secret-place.ts";

/** The workflow that a request names, within the caller's company. Throws NOT_FOUND (D1). */
export function requireWorkflowKey(workflowId: string, { identity }: RpcContext): WorkflowKey {
  if (!isUuid(workflowId)) throw new AppError("NOT_FOUND", "Workflow not found");
  return {
    companyId: identity.companyId.toLowerCase(),
    workflowId: workflowId.toLowerCase(),
  };
}

/** The existing secret that a request names. A key of the wrong form names none: NOT_FOUND. */
export function requireSecretPlace(
  request: { workflowId: string; key: string },
  context: RpcContext,
): SecretPlace {
  const workflow = requireWorkflowKey(request.workflowId, context);
  if (secretKeyProblem(request.key) !== null) throw secretNotFound();
  return { ...workflow, key: request.key };
}

/** Throws VALIDATION_ERROR naming what is wrong with a key or a value, never quoting the value. */
export function assertValid(fields: { key?: string; value: string }): void {
  const problems: [string, string | null][] = [
    ["key", fields.key === undefined ? null : secretKeyProblem(fields.key)],
    ["value", secretValueProblem(fields.value)],
  ];
  const violations = problems.flatMap(([field, message]): Violation[] =>
    message === null ? [] : [{ path: [field], message }],
  );
  const [first] = violations;
  if (first === undefined) return;
  const text = `The secret is not valid: ${first.path.join(".")} ${first.message}.`;
  throw new AppError("VALIDATION_ERROR", text, { violations });
}

/** The one answer for secrets that are not there. */
export function secretNotFound(): AppError {
  return new AppError("NOT_FOUND", "Secret not found");
}
