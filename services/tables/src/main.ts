import { runService } from "@workflow/service/run-service";
import { readConfig } from "./config.ts";
import { configuredOptions } from "./configured-options.ts";
import { startTablesService } from "./service.ts";

await runService({
  name: "tables",
  migrations: new URL("../migrations", import.meta.url),
  readConfig,
  start: (config, parts) =>
    startTablesService({
      ...configuredOptions(config),
      ...parts,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
    }),
});
