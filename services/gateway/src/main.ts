import { createTokenSigner, httpTlsOf } from "@workflow/rpc";
import type { Peer } from "@workflow/service";
import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import type { GatewayConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { startGatewayService } from "./service.ts";

await runService({
  name: "gateway",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  peers: (config) => [
    { ...peer("workflows", "WORKFLOWS_GRPC_ADDR", config), isNeeded: true },
    { ...peer("runs", "RUNS_GRPC_ADDR", config), isNeeded: true },
    peer("tables", "TABLES_GRPC_ADDR", config),
    peer("integrations", "INTEGRATIONS_GRPC_ADDR", config),
    peer("webhooks", "WEBHOOKS_GRPC_ADDR", config),
  ],
  start: (config, parts) =>
    startGatewayService({
      ...configuredOptions(config),
      ...parts,
      stopDelayMs: config.STOP_DELAY_MS,
      workflowsGrpcAddress: config.WORKFLOWS_GRPC_ADDR,
      runsGrpcAddress: config.RUNS_GRPC_ADDR,
      tablesGrpcAddress: config.TABLES_GRPC_ADDR,
      integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
      webhooksGrpcAddress: config.WEBHOOKS_GRPC_ADDR,
      webhooksHttpAddress: config.WEBHOOKS_HTTP_ADDR,
      webhooksHttpTls: config.WEBHOOKS_HTTP_TLS ? httpTlsOf(parts.grpcTls) : undefined,
      tokenSigner: createTokenSigner({
        issuer: "gateway",
        privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
      }),
    }),
});

type AddressSetting = keyof GatewayConfig & `${string}_GRPC_ADDR`;

function peer(name: string, setting: AddressSetting, config: GatewayConfig): Peer {
  return { name, setting, address: config[setting] };
}
