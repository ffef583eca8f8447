import { recordAdminEvent } from "@workflow/service-gateway/admin";
import type { AdminEvent } from "@workflow/service-gateway/admin";
import { withDatabase } from "./database.ts";
import type { AdminSettings } from "./settings.ts";

/**
 * Tells the audit log of what a command has done elsewhere than in the gateway's tables. Those that change
 * something there record it in the transaction that does.
 */
export function recordEvent(settings: AdminSettings, event: AdminEvent): Promise<void> {
  return withDatabase(settings, (database) =>
    database.transaction((transaction) => recordAdminEvent(transaction, event)),
  );
}
