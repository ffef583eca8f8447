import type { DocumentedOperation } from "./document.ts";

/** Operations whose best names do not follow from their ids and tags; `group.method`. */
const CHOSEN: Readonly<Record<string, string>> = {
  listWorkflowRuns: "workflows.listRuns",
  rollbackWorkflow: "versions.rollback",
  getRunLogs: "runs.getLogs",
  listRunSteps: "runs.listSteps",
  getRunStep: "runs.getStep",
  bulkRuns: "runs.bulk",
  listRunApprovals: "approvals.listOfRun",
  listAgentExecutions: "agents.listExecutions",
  getAgentExecution: "agents.getExecution",
  listWebhookDeliveries: "webhookEndpoints.listDeliveries",
  getWebhookDelivery: "webhookEndpoints.getDelivery",
  retryWebhookDelivery: "webhookEndpoints.retryDelivery",
  rotateWebhookSecret: "webhookEndpoints.rotateSecret",
  listWebhookEventTypes: "webhookEndpoints.listEventTypes",
  revokeApiKeys: "apiKeys.revokeAll",
  listAuditLogs: "auditLog.list",
};

/**
 * Where an operation is in a client: the group after its tag, the method after its id without what the group says
 * already. `listWorkflows` of the tag Workflows is `workflows.list`.
 */
export function nameOf({ operationId, tags: [tag] }: DocumentedOperation): {
  group: string;
  method: string;
} {
  const chosen = CHOSEN[operationId]?.split(".");
  if (chosen !== undefined) {
    const [group = "", method = ""] = chosen;
    return { group, method };
  }
  const words = tag.split(" ").map((word) => upperFirst(word.toLowerCase()));
  const plural = words.join("");
  const noun = new RegExp(`(?:${plural}|${plural.replace(/s$/, "")})$`);
  return { group: lowerFirst(plural), method: operationId.replace(noun, "") || operationId };
}

export function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
