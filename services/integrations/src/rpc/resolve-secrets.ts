import { AppError } from "@workflow/errors";
import type {
  ResolveSecretsRequest,
  ResolveSecretsResponse,
} from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { secretKeyProblem } from "@workflow/definition";
import { unwrapCompanyKey } from "@workflow/sealing";
import type { KeyRing } from "@workflow/sealing";
import type { ServiceContext } from "../context.ts";
import type { WorkflowKey } from "../domain/secret-place.ts";
import { openValue } from "../encryption/secret-values.ts";
import { listSealed } from "../store/secrets.ts";
import type { SealedRow } from "../store/secrets.ts";
import { requireWorkflowKey } from "./secret-request.ts";

const KEYS_MAX = 200;

/** Returns values to a run with one query, and notes their use for later. */
export function resolveSecrets({
  database,
  ring,
  uses,
}: ServiceContext): UnaryMethod<ResolveSecretsRequest, ResolveSecretsResponse> {
  return rpc({
    scopes: "internal:secrets",
    async handler(request, context) {
      const workflow = requireWorkflowKey(request.workflowId, context);
      const rows = await listSealed(database, workflow, parseKeys(request.keys));
      const answer = await openAll(ring, workflow, rows);
      uses.record(rows.map(({ id }) => id));
      return answer;
    },
  });
}

/** Malformed keys are dropped: no secret has such a key. */
function parseKeys(keys: readonly string[]): string[] {
  if (keys.length < 1 || keys.length > KEYS_MAX) {
    const message = `must have 1 to ${KEYS_MAX} keys`;
    throw new AppError("BAD_REQUEST", `The request is not valid: keys ${message}.`, {
      violations: [{ path: ["keys"], message }],
    });
  }
  return keys.filter((key) => secretKeyProblem(key) === null);
}

async function openAll(
  ring: KeyRing,
  workflow: WorkflowKey,
  rows: readonly SealedRow[],
): Promise<ResolveSecretsResponse> {
  const companyKeys = new Map<string, Buffer>();
  const answer: ResolveSecretsResponse = { values: {}, bound: {} };
  for (const { key, allowedHosts, sealedValue, companyKeyId, kekId, wrappedKey } of rows) {
    const wrapped = { id: companyKeyId, companyId: workflow.companyId, kekId, wrappedKey };
    const companyKey = companyKeys.get(companyKeyId) ?? (await unwrapCompanyKey(ring, wrapped));
    companyKeys.set(companyKeyId, companyKey);
    // An assignment is safe: keys are upper-case words, so none of them is special in an object.
    const value = openValue(companyKey, sealedValue, { ...workflow, key });
    if (allowedHosts === null) answer.values[key] = value;
    else answer.bound[key] = { value, allowedHosts };
  }
  return answer;
}
