import { foldWebhookPath } from "@workflow/definition";
import type { CompiledTrigger } from "@workflow/definition";

/** The provider name of the custom route. Triggers that name it are found by their path. */
const CUSTOM_PROVIDER = "custom";

/**
 * The key under which an incoming event finds the workflows that wait for it. Null for triggers that no
 * event fires.
 */
export function triggerKeyOf(trigger: CompiledTrigger): string | null {
  switch (trigger.type) {
    case "table":
      return tableTriggerKey(trigger.tableId);
    case "webhook":
      return webhookTriggerKey(trigger);
    case "api":
    case "manual":
    case "schedule":
      return null;
    default:
      return trigger satisfies never;
  }
}

/** The key of the triggers that wait for changes of a table's rows. */
export function tableTriggerKey(tableId: string): string {
  return `table:${tableId.toLowerCase()}`;
}

/** The key of the triggers that wait for events of a provider. Upper and lower case are the same. */
export function providerTriggerKey(provider: string): string {
  return `webhook:provider:${provider.toLowerCase()}`;
}

/** The key of the triggers that wait for a path of the custom route, in any spelling of the path. */
export function pathTriggerKey(path: string): string {
  return `webhook:path:${foldWebhookPath(path)}`;
}

function webhookTriggerKey({
  provider,
  path,
}: Extract<CompiledTrigger, { type: "webhook" }>): string | null {
  if (provider !== undefined && provider.toLowerCase() !== CUSTOM_PROVIDER) {
    return providerTriggerKey(provider);
  }
  // By the contract a path that begins with a slash never matches.
  return path.startsWith("/") ? null : pathTriggerKey(path);
}
