import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { startIntegrationsService } from "./service.ts";

await runService({
  name: "integrations",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  start: (config, parts) =>
    startIntegrationsService({
      ...configuredOptions(config),
      ...parts,
      loadKeks: () => Promise.resolve(config.SECRETS_KEK),
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
    }),
});
