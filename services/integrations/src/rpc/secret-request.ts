import { isUuid } from "@workflow/db";
import { parseSecretHosts, secretKeyProblem, secretValueProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { HostList } from "@workflow/proto/integrations/v1/secrets";
import type { RpcContext } from "@workflow/rpc";
import type { SecretPlace, WorkflowKey } from "../domain/secret-place.ts";

/**
 * The workflow that a request names, within the caller's company.
 *
 * @throws AppError NOT_FOUND (D1)
 */
export function requireWorkflowKey(workflowId: string, { identity }: RpcContext): WorkflowKey {
  if (!isUuid(workflowId)) throw new AppError("NOT_FOUND", "Workflow not found");
  return {
    companyId: identity.companyId.toLowerCase(),
    workflowId: workflowId.toLowerCase(),
  };
}

/**
 * The existing secret that a request names.
 *
 * @throws AppError NOT_FOUND for a malformed key
 */
export function requireSecretPlace(
  request: { workflowId: string; key: string },
  context: RpcContext,
): SecretPlace {
  const workflow = requireWorkflowKey(request.workflowId, context);
  if (secretKeyProblem(request.key) !== null) throw secretNotFound();
  return { ...workflow, key: request.key };
}

/** The parts of a request about a new value and its hosts. */
interface SecretFields {
  /** Undefined when the path names the secret. */
  key?: string;
  value: string;
  allowedHosts?: HostList | undefined;
}

/**
 * Checks the fields of a request and returns the hosts as they are stored: null for any host, undefined
 * when the request does not mention hosts.
 *
 * @throws AppError VALIDATION_ERROR naming the fields, never quoting the value
 */
export function requireValid(fields: SecretFields): readonly string[] | null | undefined {
  const hosts = hostsOf(fields.allowedHosts);
  const problems: [string, string | null][] = [
    ["key", fields.key === undefined ? null : secretKeyProblem(fields.key)],
    ["value", secretValueProblem(fields.value)],
  ];
  const violations = problems.flatMap(([field, message]): Violation[] =>
    message === null ? [] : [{ path: [field], message }],
  );
  if (!hosts.ok) {
    for (const { path, message } of hosts.problems) {
      violations.push({ path: ["allowedHosts", ...path], message });
    }
  }
  const [first] = violations;
  if (first === undefined) return hosts.ok ? hosts.hosts : undefined;
  const text = `The secret is not valid: ${first.path.join(".")} ${first.message}.`;
  throw new AppError("VALIDATION_ERROR", text, { violations });
}

function hostsOf(list: HostList | undefined) {
  if (list === undefined) return { ok: true, hosts: undefined } as const;
  return list.hosts.length === 0
    ? ({ ok: true, hosts: null } as const)
    : parseSecretHosts(list.hosts);
}

/** The one error for secrets that do not exist. */
export function secretNotFound(): AppError {
  return new AppError("NOT_FOUND", "Secret not found");
}
