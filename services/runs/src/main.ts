import { createTokenSigner } from "@workflow/rpc";
import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { connectPeers } from "./connect-peers.ts";
import { startRunsService } from "./service.ts";

await runService({
  name: "runs",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  // A worker calls these; without them steps of some types wait or fail.
  peers: (config) =>
    config.RUNS_ROLE === "api"
      ? []
      : [
          {
            name: "integrations",
            setting: "INTEGRATIONS_GRPC_ADDR",
            address: config.INTEGRATIONS_GRPC_ADDR,
          },
          { name: "tables", setting: "TABLES_GRPC_ADDR", address: config.TABLES_GRPC_ADDR },
        ],
  details: (config) => (config.RUNS_ROLE === "api" ? {} : { pool: config.RUNS_POOL }),
  start(config, parts, scope) {
    const addresses = {
      integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
      tablesGrpcAddress: config.TABLES_GRPC_ADDR,
      tokenSigner: createTokenSigner({
        issuer: "runs",
        privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
      }),
    };
    return startRunsService({
      ...configuredOptions(config),
      ...parts,
      ...connectPeers({ ...addresses, ...parts }, scope),
      role: config.RUNS_ROLE,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
    });
  },
  stopTimeoutMs: 20_000,
});
