const PREFIX = "broker:";

/** The broker's names of a connection. */
export interface BrokerConnection {
  /** The broker's name of the provider. It has no colon. */
  integrationId: string;
  brokerConnectionId: string;
}

/** An account id made of the broker's names of its connection. It stands beside the account ids of providers. */
export function brokerAccount({ integrationId, brokerConnectionId }: BrokerConnection): string {
  return `${PREFIX}${integrationId}:${brokerConnectionId}`;
}

/** Null for an account id of a provider. */
export function parseBrokerAccount(accountId: string): BrokerConnection | null {
  if (!accountId.startsWith(PREFIX)) return null;
  const named = accountId.slice(PREFIX.length);
  const at = named.indexOf(":");
  if (at === -1) return null;
  return { integrationId: named.slice(0, at), brokerConnectionId: named.slice(at + 1) };
}
