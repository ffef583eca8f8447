import { fileURLToPath } from "node:url";
import { databaseErrorToAppError } from "@workflow/db";
import { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { IssuerKeys, RpcServer, RpcTls } from "@workflow/rpc";
import { rpcRequestMetrics } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { SchemaChecks } from "./agents/schema-checks.ts";
import type { ServiceContext } from "./context.ts";
import { authorizeRequest } from "./rpc/authorize-request.ts";
import { beginAuthorization } from "./rpc/begin-authorization.ts";
import { checkAgents } from "./rpc/check-agents.ts";
import { checkConnections } from "./rpc/check-connections.ts";
import { completeAuthorization } from "./rpc/complete-authorization.ts";
import { connectApiKey } from "./rpc/connect-api-key.ts";
import { continueAuthorization } from "./rpc/continue-authorization.ts";
import { createAgent } from "./rpc/create-agent.ts";
import { createConnection } from "./rpc/create-connection.ts";
import { createSecret } from "./rpc/create-secret.ts";
import { deleteAgent } from "./rpc/delete-agent.ts";
import { deleteConnection } from "./rpc/delete-connection.ts";
import { deleteSecret } from "./rpc/delete-secret.ts";
import { evaluateAgent } from "./rpc/evaluate-agent.ts";
import { executeAction } from "./rpc/execute-action.ts";
import { executeAgent } from "./rpc/execute-agent.ts";
import { executeAgentStep } from "./rpc/execute-agent-step.ts";
import { findAccounts } from "./rpc/find-accounts.ts";
import { findBrokerConnection } from "./rpc/find-broker-connection.ts";
import { getAgentExecution } from "./rpc/get-agent-execution.ts";
import { getAgent } from "./rpc/get-agent.ts";
import { getAuthorizationAttempt } from "./rpc/get-authorization-attempt.ts";
import { getConnection } from "./rpc/get-connection.ts";
import { listAgentExecutions } from "./rpc/list-agent-executions.ts";
import { listAgents } from "./rpc/list-agents.ts";
import { listBankAccounts } from "./rpc/list-bank-accounts.ts";
import { listConnections } from "./rpc/list-connections.ts";
import { listSecrets } from "./rpc/list-secrets.ts";
import { refreshConnection } from "./rpc/refresh-connection.ts";
import { replaceSecret } from "./rpc/replace-secret.ts";
import { reportBrokerAuthorization } from "./rpc/report-broker-authorization.ts";
import { reportBrokerSync } from "./rpc/report-broker-sync.ts";
import { reportAnswer } from "./rpc/report-answer.ts";
import { resolveSecrets } from "./rpc/resolve-secrets.ts";
import { sendEmail } from "./rpc/send-email.ts";
import { testAgent } from "./rpc/test-agent.ts";
import { updateAgent } from "./rpc/update-agent.ts";
import { verifyConnection } from "./rpc/verify-connection.ts";

/** The options of the server. */
interface ServerOptions {
  /** The issuers whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  grpcTls?: RpcTls | undefined;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; without one there are none. */
  tracer?: Tracer | undefined;
}

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/** The gRPC server with every RPC of the service; it does not listen yet. */
export function createServer(context: ServiceContext, options: ServerOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "integrations",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(context.database, "integrations"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    tracer: options.tracer,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  addSecretsAndActions(server, context);
  addConnections(server, context);
  addAgents(server, context);
  return server;
}

function addSecretsAndActions(server: RpcServer, context: ServiceContext): void {
  server.add(SecretsServiceService, {
    listSecrets: listSecrets(context),
    createSecret: createSecret(context),
    replaceSecret: replaceSecret(context),
    deleteSecret: deleteSecret(context),
    resolveSecrets: resolveSecrets(context),
  });
  server.add(ActionsServiceService, {
    executeAction: executeAction(context),
    authorizeRequest: authorizeRequest(context),
    reportAnswer: reportAnswer(context),
    checkConnections: checkConnections(context),
  });
  server.add(EmailServiceService, { sendEmail: sendEmail(context) });
}

function addConnections(server: RpcServer, context: ServiceContext): void {
  server.add(ConnectionsServiceService, {
    listConnections: listConnections(context),
    getConnection: getConnection(context),
    createConnection: createConnection(context),
    connectApiKey: connectApiKey(context),
    deleteConnection: deleteConnection(context),
    refreshConnection: refreshConnection(context),
    verifyConnection: verifyConnection(context),
    listBankAccounts: listBankAccounts(context),
  });
  server.add(AuthorizationsServiceService, {
    beginAuthorization: beginAuthorization(context),
    getAuthorizationAttempt: getAuthorizationAttempt(context),
    continueAuthorization: continueAuthorization(context),
    completeAuthorization: completeAuthorization(context),
  });
  server.add(AccountsServiceService, {
    findAccounts: findAccounts(context),
    findBrokerConnection: findBrokerConnection(context),
    reportBrokerAuthorization: reportBrokerAuthorization(context),
    reportBrokerSync: reportBrokerSync(context),
  });
}

function addAgents(server: RpcServer, context: ServiceContext): void {
  const schemas = new SchemaChecks();
  server.add(AgentsServiceService, {
    listAgents: listAgents(context),
    getAgent: getAgent(context),
    createAgent: createAgent(context, schemas),
    updateAgent: updateAgent(context, schemas),
    deleteAgent: deleteAgent(context),
    checkAgents: checkAgents(context),
    testAgent: testAgent(context),
    executeAgent: executeAgent(context),
    executeAgentStep: executeAgentStep(context),
    listAgentExecutions: listAgentExecutions(context),
    getAgentExecution: getAgentExecution(context),
    evaluateAgent: evaluateAgent(context),
  });
}
