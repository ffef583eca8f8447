import type { Scope } from "@workflow/async";
import type { RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import { createAgentClient } from "./effects/agent-client.ts";
import { createEmailClient } from "./effects/email-client.ts";
import { createProviderClient } from "./effects/provider-client.ts";
import { createTablesClient } from "./effects/tables-client.ts";
import type { RunsServiceOptions } from "./options.ts";
import { createSecretsClient } from "./secrets/resolve-secrets.ts";

/** The addresses of the services that a worker calls, and the identity with which it calls them. */
export interface PeerAddresses {
  integrationsGrpcAddress: string;
  tablesGrpcAddress: string;
  tokenSigner: TokenSigner;
  grpcTls: RpcTls | undefined;
  tracer: Tracer | undefined;
}

/** The ways out of a worker. */
export type Peers = Required<
  Pick<RunsServiceOptions, "secrets" | "email" | "providers" | "agents" | "tables">
>;

/**
 * The clients of all services that workers call; each connects on first use. The scope closes them, the last
 * one first.
 */
export function connectPeers(addresses: PeerAddresses, scope: Scope): Peers {
  const { tokenSigner, grpcTls: tls, tracer } = addresses;
  const toIntegrations = {
    address: addresses.integrationsGrpcAddress,
    tokenSigner,
    tls,
    tracer,
  };
  const toTables = { ...toIntegrations, address: addresses.tablesGrpcAddress };
  const close = (client: { close(): Promise<void> | void }) => client.close();
  return {
    secrets: scope.adopt(createSecretsClient(toIntegrations), close),
    email: scope.adopt(createEmailClient(toIntegrations), close),
    providers: scope.adopt(createProviderClient(toIntegrations), close),
    agents: scope.adopt(createAgentClient(toIntegrations), close),
    tables: scope.adopt(createTablesClient(toTables), close),
  };
}
