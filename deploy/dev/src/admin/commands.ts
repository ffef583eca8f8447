import type { Command } from "./command.ts";
import { createApiKeyCommand } from "./create-api-key.ts";
import { createCompanyCommand } from "./create-company.ts";
import { createUserCommand } from "./create-user.ts";
import { listCompaniesCommand } from "./list-companies.ts";
import { migrateCommand } from "./migrate.ts";
import { mintTokenCommand } from "./mint-token.ts";
import { rotateKekCommand } from "./rotate-kek.ts";
import { setPasswordCommand } from "./set-password.ts";
import { verifyAuditCommand } from "./verify-audit.ts";

/** Every admin command by name (D54). */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["create-company", createCompanyCommand],
  ["create-user", createUserCommand],
  ["create-api-key", createApiKeyCommand],
  ["set-password", setPasswordCommand],
  ["list-companies", listCompaniesCommand],
  ["mint-token", mintTokenCommand],
  ["migrate", migrateCommand],
  ["rotate-kek", rotateKekCommand],
  ["verify-audit", verifyAuditCommand],
]);
