import { changesBetween, unchanged } from "@workflow/audit";
import type { AuditChange, AuditEntry, AuditFields } from "@workflow/audit";
import type { Agent } from "../domain/agent.ts";

/** The audited actions on an agent. */
type AgentAction = "agent.created" | "agent.updated" | "agent.deleted";

/** The audit entry of an agent. Changes of prompt and schema are noted without their content. */
export function agentEntry(action: AgentAction, before: Agent | null, after: Agent): AuditEntry {
  return {
    action,
    resourceType: "agent",
    resourceId: after.id,
    changes: {
      ...(before === null ? {} : unchanged({ name: after.name })),
      ...changesBetween(before === null ? {} : shown(before), shown(after)),
      ...changedDocument("systemPrompt", before?.systemPrompt ?? null, after.systemPrompt),
      ...changedDocument("outputSchema", before?.outputSchemaJson ?? null, after.outputSchemaJson),
    },
  };
}

function shown(agent: Agent): AuditFields {
  const { name, description, type, status, provider, temperature, maxTokens, version } = agent;
  return { name, description, type, status, provider, temperature, maxTokens, version };
}

function changedDocument(
  field: string,
  before: string | null,
  after: string | null,
): Record<string, AuditChange> {
  return before === after ? {} : { [field]: { changed: true } };
}
