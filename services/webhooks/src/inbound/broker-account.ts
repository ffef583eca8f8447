const PREFIX = "broker:";

/** A connection as the broker names it. */
export interface BrokerConnection {
  /** The broker's name of the provider; it has no colon. */
  integrationId: string;
  brokerConnectionId: string;
}

/** An account that is known by the broker's name of its connection, among those that providers name. */
export function brokerAccount({ integrationId, brokerConnectionId }: BrokerConnection): string {
  return `${PREFIX}${integrationId}:${brokerConnectionId}`;
}

/** Null for an account that a provider has named. */
export function parseBrokerAccount(accountId: string): BrokerConnection | null {
  if (!accountId.startsWith(PREFIX)) return null;
  const named = accountId.slice(PREFIX.length);
  const at = named.indexOf(":");
  if (at === -1) return null;
  return { integrationId: named.slice(0, at), brokerConnectionId: named.slice(at + 1) };
}
