import { fileURLToPath } from "node:url";
import { databaseErrorToAppError, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createAuditTrail } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer, RpcTls, VerificationKey } from "@workflow/rpc";
import { createScope, loop, rpcRequestMetrics } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServiceContext } from "./context.ts";
import { openMail } from "./email/mail.ts";
import type { MailOptions } from "./email/mail.ts";
import type { LoadKeks } from "./encryption/key-ring.ts";
import { openKeyRing } from "./encryption/open-key-ring.ts";
import { forgetArchivedWorkflows } from "./events/forget-archived.ts";
import { createSecret } from "./rpc/create-secret.ts";
import { deleteSecret } from "./rpc/delete-secret.ts";
import { listSecrets } from "./rpc/list-secrets.ts";
import { replaceSecret } from "./rpc/replace-secret.ts";
import { resolveSecrets } from "./rpc/resolve-secrets.ts";
import { sendEmail } from "./rpc/send-email.ts";
import { createUseRecorder } from "./use-recorder.ts";
import type { UseRecorder } from "./use-recorder.ts";

/** What the service needs from its surroundings. */
export interface IntegrationsServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** The keys of SECRETS_KEK, the first one encrypts; asked again when one is missing. */
  loadKeks: LoadKeks;
  /** Where the events of other services come from, and its own go to. */
  bus: EventBus;
  /** The mail server; steps that send e-mail fail as long as it is not set. */
  mail?: MailOptions | undefined;
  /** Where to listen: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens callers may show. */
  tokenPublicKeys: readonly VerificationKey[];
  grpcTls?: RpcTls | undefined;
  logger: Logger;
  /** Where request metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address it is really bound to. */
  grpcAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_integrations";
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
const USES_FLUSH_MS = 3_000;

/**
 * Starts the service.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, ConfigError when SECRETS_KEK
 * lacks a key that stored secrets need or a mail setting is wrong, Error when the address is taken;
 * nothing stays open then
 */
export async function startIntegrationsService(
  options: IntegrationsServiceOptions,
): Promise<RunningService> {
  const { logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: DATABASE_ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-integrations",
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    const ring = await openKeyRing(database, options.loadKeks);
    const archived = await forgetArchivedWorkflows(database, options.bus);
    scope.defer(() => archived.close());
    const uses = startUseRecorder(database, logger, scope);
    const mail = openMail(database, options.mail ?? {}, logger);
    scope.defer(() => mail.close());
    const audit = createAuditTrail({ database, schema: "integrations", bus: options.bus, logger });
    scope.defer(() => audit.stop());
    const server = createServer({ database, ring, uses, mail, audit }, options);
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}

function startUseRecorder(database: Database, logger: Logger, scope: Scope): UseRecorder {
  const recorder = createUseRecorder(database);
  const stopping = new AbortController();
  const { done } = loop({
    name: "secrets-last-used",
    signal: stopping.signal,
    intervalMs: USES_FLUSH_MS,
    logger,
    run: () => recorder.flush(),
  });
  scope.defer(async () => {
    stopping.abort();
    await done;
    await recorder.flush().catch((error: unknown) => {
      logger.warn({ err: error }, "the last uses of secrets were not recorded");
    });
  });
  return recorder;
}

function createServer(context: ServiceContext, options: IntegrationsServiceOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({ publicKeys: options.tokenPublicKeys }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  server.add(SecretsServiceService, {
    listSecrets: listSecrets(context),
    createSecret: createSecret(context),
    replaceSecret: replaceSecret(context),
    deleteSecret: deleteSecret(context),
    resolveSecrets: resolveSecrets(context),
  });
  server.add(EmailServiceService, { sendEmail: sendEmail(context) });
  return server;
}

export { EVENT_CONSUMERS } from "./events/forget-archived.ts";
