import type { CompiledTrigger } from "@workflow/definition";

/**
 * What events a trigger waits for: workflows are found by it when one comes. Null for triggers that no
 * event fires.
 */
export function triggerKeyOf(trigger: CompiledTrigger): string | null {
  switch (trigger.type) {
    case "table":
      return tableTriggerKey(trigger.tableId);
    case "api":
    case "manual":
    case "schedule":
    // Nothing receives webhooks yet.
    case "webhook":
      return null;
    default:
      return trigger satisfies never;
  }
}

/** The key of the triggers that wait for changes of a table's rows. */
export function tableTriggerKey(tableId: string): string {
  return `table:${tableId.toLowerCase()}`;
}
