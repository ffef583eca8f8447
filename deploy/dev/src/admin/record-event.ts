import { recordAdminEvent } from "@workflow/service-gateway/admin";
import type { AdminEvent } from "@workflow/service-gateway/admin";
import { withDatabase } from "./database.ts";
import type { AdminSettings } from "./settings.ts";

/**
 * Records a command that changed something outside the gateway's tables. Other commands record in the transaction
 * of their change.
 */
export function recordEvent(settings: AdminSettings, event: AdminEvent): Promise<void> {
  return withDatabase(settings, (database) =>
    database.transaction((transaction) => recordAdminEvent(transaction, event)),
  );
}
