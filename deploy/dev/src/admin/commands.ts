import { applyRevocationsCommand } from "./apply-revocations.ts";
import { auditLogCommand } from "./audit-log.ts";
import type { Command } from "./command.ts";
import { createApiKeyCommand } from "./create-api-key.ts";
import { createCompanyCommand } from "./create-company.ts";
import { createUserCommand } from "./create-user.ts";
import {
  deleteDeadLetterCommand,
  listDeadLettersCommand,
  redriveDeadLetterCommand,
} from "./dead-letters.ts";
import { listCompaniesCommand } from "./list-companies.ts";
import { listRevocationsCommand } from "./list-revocations.ts";
import { migrateCommand } from "./migrate.ts";
import { mintTokenCommand } from "./mint-token.ts";
import { revokeCredentialsCommand } from "./revoke-credentials.ts";
import { revokeTokenCommand } from "./revoke-token.ts";
import { rotateKekCommand } from "./rotate-kek.ts";
import { setPasswordCommand } from "./set-password.ts";
import { setRateLimitsCommand } from "./set-rate-limits.ts";
import { setRunRetentionCommand } from "./set-run-retention.ts";
import { setUpNatsCommand } from "./set-up-nats.ts";
import {
  listWorkerPoolsCommand,
  removeWorkerPoolCommand,
  setWorkerPoolCommand,
} from "./worker-pools.ts";
import { verifyAuditCommand } from "./verify-audit.ts";

/** Every admin command by name (D54). */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["create-company", createCompanyCommand],
  ["create-user", createUserCommand],
  ["create-api-key", createApiKeyCommand],
  ["set-password", setPasswordCommand],
  ["set-rate-limits", setRateLimitsCommand],
  ["set-run-retention", setRunRetentionCommand],
  ["set-worker-pool", setWorkerPoolCommand],
  ["remove-worker-pool", removeWorkerPoolCommand],
  ["list-worker-pools", listWorkerPoolsCommand],
  ["list-companies", listCompaniesCommand],
  ["mint-token", mintTokenCommand],
  ["revoke-token", revokeTokenCommand],
  ["revoke-credentials", revokeCredentialsCommand],
  ["list-revocations", listRevocationsCommand],
  ["apply-revocations", applyRevocationsCommand],
  ["migrate", migrateCommand],
  ["set-up-nats", setUpNatsCommand],
  ["list-dead-letters", listDeadLettersCommand],
  ["redrive-dead-letter", redriveDeadLetterCommand],
  ["delete-dead-letter", deleteDeadLetterCommand],
  ["rotate-kek", rotateKekCommand],
  ["audit-log", auditLogCommand],
  ["verify-audit", verifyAuditCommand],
]);
