import { createTokenSigner } from "@workflow/rpc";
import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { startWorkflowsService } from "./service.ts";

await runService({
  name: "workflows",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  peers: (config) => [{ name: "runs", setting: "RUNS_GRPC_ADDR", address: config.RUNS_GRPC_ADDR }],
  start: (config, parts) =>
    startWorkflowsService({
      ...configuredOptions(config),
      ...parts,
      runsGrpcAddress: config.RUNS_GRPC_ADDR,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
      tokenSigner: createTokenSigner({
        issuer: "workflows",
        privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
      }),
    }),
});
