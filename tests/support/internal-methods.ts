import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadSync } from "@grpc/proto-loader";
import type { AnyDefinition, ServiceDefinition } from "@grpc/proto-loader";
import { TOKEN_AUDIENCES } from "@workflow/rpc";
import type { TokenAudience, TokenIssuer } from "@workflow/rpc";

const PROTO = join(import.meta.dirname, "../../proto");

/** Everything that the protos define. */
const definitions = loadSync(
  readdirSync(join(PROTO, "workflow"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => join("workflow", name)),
  { includeDirs: [PROTO], keepCase: true },
);

/** The services of the protos. */
export const services = Object.entries(definitions).flatMap(([name, definition]) =>
  isService(definition) ? [{ name, definition }] : [],
);
/** The methods of all services, with their paths. */
export const methods = services.flatMap(({ definition }) =>
  Object.values(definition).map((method) => ({ path: method.path, method })),
);

function isService(definition: AnyDefinition): definition is ServiceDefinition {
  return !("format" in definition);
}

/** The methods that only services call: the caller of each, and its scope. */
export const BETWEEN_SERVICES: Readonly<Record<string, { issuer: TokenIssuer; scope: string }>> = {
  "/workflow.runs.v1.DeploymentsService/PutDeployment": {
    issuer: "workflows",
    scope: "internal:deployments",
  },
  "/workflow.runs.v1.DeploymentsService/CheckDeployment": {
    issuer: "workflows",
    scope: "internal:deployments",
  },
  "/workflow.integrations.v1.SecretsService/ResolveSecrets": {
    issuer: "runs",
    scope: "internal:secrets",
  },
  "/workflow.integrations.v1.EmailService/SendEmail": {
    issuer: "runs",
    scope: "internal:effects",
  },
  "/workflow.integrations.v1.AuthorizationsService/GetAuthorizationAttempt": {
    issuer: "gateway",
    scope: "internal:authorizations",
  },
  "/workflow.integrations.v1.AuthorizationsService/ContinueAuthorization": {
    issuer: "gateway",
    scope: "internal:authorizations",
  },
  "/workflow.integrations.v1.AuthorizationsService/CompleteAuthorization": {
    issuer: "gateway",
    scope: "internal:authorizations",
  },
  "/workflow.integrations.v1.ActionsService/ExecuteAction": {
    issuer: "runs",
    scope: "internal:effects",
  },
  "/workflow.integrations.v1.AgentsService/ExecuteAgentStep": {
    issuer: "runs",
    scope: "internal:effects",
  },
  "/workflow.integrations.v1.ActionsService/ReportAnswer": {
    issuer: "runs",
    scope: "internal:effects",
  },
  "/workflow.integrations.v1.ActionsService/AuthorizeRequest": {
    issuer: "runs",
    scope: "internal:secrets",
  },
  "/workflow.runs.v1.TriggersService/StartTriggeredRuns": {
    issuer: "webhooks",
    scope: "internal:triggers",
  },
  "/workflow.runs.v1.RunEventsService/ReadRunPayloads": {
    issuer: "webhooks",
    scope: "internal:run_events",
  },
  "/workflow.runs.v1.RunEventsService/ListEndEvents": {
    issuer: "webhooks",
    scope: "internal:run_events",
  },
  "/workflow.integrations.v1.AccountsService/FindAccounts": {
    issuer: "webhooks",
    scope: "internal:accounts",
  },
  "/workflow.integrations.v1.AccountsService/FindBrokerConnection": {
    issuer: "webhooks",
    scope: "internal:accounts",
  },
  "/workflow.integrations.v1.AccountsService/ReportBrokerAuthorization": {
    issuer: "webhooks",
    scope: "internal:accounts",
  },
  "/workflow.integrations.v1.AccountsService/ReportBrokerSync": {
    issuer: "webhooks",
    scope: "internal:accounts",
  },
};

/** Scopes of calls in the caller's own name: the answer tells which company something is for (ADR 41). */
export const IN_OWN_NAME = ["internal:triggers", "internal:run_events", "internal:accounts"];

/** The scopes with which services call each other. */
export const INTERNAL_SCOPES = Object.values(BETWEEN_SERVICES).map(({ scope }) => scope);

/** The service that a method belongs to. Throws for a path of no service. */
export function audienceOf(path: string): TokenAudience {
  const domain = path.split(".")[1];
  const audience = TOKEN_AUDIENCES.find((known) => known === domain);
  if (audience === undefined) throw new Error(`${path} belongs to no service.`);
  return audience;
}
