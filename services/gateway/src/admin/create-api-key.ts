import type { Database } from "@workflow/db";
import { apiKeyCreated, insertNewApiKey } from "../identity/create-api-key.ts";
import type { CreateApiKeyInput, CreatedApiKey } from "../identity/create-api-key.ts";
import { recordAdminEvent } from "./record-admin-event.ts";

/** Creates an API key of a company for an operator. Throws as `insertNewApiKey`. */
export function createApiKey(
  database: Database,
  request: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  return database.transaction(async (transaction) => {
    const created = await insertNewApiKey(transaction, request);
    await recordAdminEvent(transaction, {
      companyId: request.companyId.toLowerCase(),
      ...apiKeyCreated(created),
    });
    return created;
  });
}
