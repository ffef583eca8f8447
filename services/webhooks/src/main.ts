import { createTokenSigner, httpTlsOf } from "@workflow/rpc";
import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { startWebhooksService } from "./service.ts";

await runService({
  name: "webhooks",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  peers: (config) => [
    { name: "runs", setting: "RUNS_GRPC_ADDR", address: config.RUNS_GRPC_ADDR },
    {
      name: "integrations",
      setting: "INTEGRATIONS_GRPC_ADDR",
      address: config.INTEGRATIONS_GRPC_ADDR,
    },
  ],
  start: (config, parts) =>
    startWebhooksService({
      ...configuredOptions(config),
      ...parts,
      loadKeks: () => Promise.resolve(config.SECRETS_KEK),
      publicUrl: config.PUBLIC_URL,
      stopDelayMs: config.STOP_DELAY_MS,
      httpTls: config.WEBHOOKS_HTTP_TLS ? httpTlsOf(parts.grpcTls) : undefined,
      runsGrpcAddress: config.RUNS_GRPC_ADDR,
      integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
      tokenSigner: createTokenSigner({
        issuer: "webhooks",
        privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
      }),
    }),
});
