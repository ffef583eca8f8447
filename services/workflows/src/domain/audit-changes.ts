import { changesBetween, itemChanges } from "@workflow/audit";
import type { AuditChanges, AuditFields } from "@workflow/audit";
import type { WorkflowContent } from "./content.ts";

/** The parts of a workflow whose changes are recorded. */
export interface AuditedWorkflow extends WorkflowContent {
  status: string;
  version: number;
}

/** Documents of which only the fact of a change is recorded. */
const DOCUMENTS = [
  ["trigger", "triggerJson"],
  ["inputSchema", "inputSchemaJson"],
  ["outputSchema", "outputSchemaJson"],
  ["settings", "settingsJson"],
] as const;

/**
 * The changes of a workflow; `before` is null for a new one. Of the definition only ids are
 * recorded: people write tokens into configs, and the path of a webhook trigger is a secret
 * (contract).
 */
export function workflowChanges(
  before: AuditedWorkflow | null,
  after: AuditedWorkflow,
): AuditChanges {
  return {
    ...changesBetween(before === null ? {} : fieldsOf(before), fieldsOf(after)),
    ...Object.fromEntries(
      DOCUMENTS.filter(([, key]) => (before?.[key] ?? null) !== after[key]).map(([field]) => [
        field,
        { changed: true },
      ]),
    ),
    ...stepChanges(before?.stepsJson, after.stepsJson),
  };
}

function fieldsOf({ name, description, status, version }: AuditedWorkflow): AuditFields {
  return { name, description, status, version };
}

function stepChanges(before = "[]", after: string): AuditChanges {
  return before === after ? {} : { steps: itemChanges(stepsById(before), stepsById(after)) };
}

/** Top-level steps; a change of a nested step counts as a change of its top-level step. */
function stepsById(stepsJson: string): ReadonlyMap<string, string> {
  const steps: unknown = JSON.parse(stepsJson);
  if (!Array.isArray(steps)) return new Map();
  return new Map(
    steps
      .filter((step: unknown) => hasId(step))
      .map((step) => [step.id, JSON.stringify(step)] as const),
  );
}

function hasId(step: unknown): step is { id: string } {
  return typeof step === "object" && step !== null && "id" in step && typeof step.id === "string";
}
