import { AppError } from "@workflow/errors";
import type { Database } from "@workflow/db";
import { isStorableText } from "@workflow/json";
import { brokerIntegration } from "./broker-integration.ts";
import { findByBrokerId } from "../store/account-connections.ts";
import type { FoundConnectionRow } from "../store/account-connections.ts";
import { requireManifest } from "./renew-access.ts";

/** The broker's names of a connection. */
export interface BrokerName {
  brokerConnectionId: string;
  /** The broker's name of the provider. */
  integrationId: string;
}

/** The connection of any company that the broker names; null when the provider has none of that name. */
async function findNamedByBroker(
  database: Database,
  { brokerConnectionId, integrationId }: BrokerName,
): Promise<FoundConnectionRow | null> {
  if (brokerConnectionId === "" || !isStorableText(brokerConnectionId)) return null;
  const row = await findByBrokerId(database, brokerConnectionId);
  if (row === null || brokerIntegration(requireManifest(row)) !== integrationId) return null;
  return row;
}

/**
 * The connection of any company that the broker names.
 *
 * @throws AppError NOT_FOUND
 */
export async function getNamedByBroker(
  database: Database,
  name: BrokerName,
): Promise<FoundConnectionRow> {
  const row = await findNamedByBroker(database, name);
  if (row !== null) return row;
  throw new AppError("NOT_FOUND", "There is no connection that the broker calls so.");
}
