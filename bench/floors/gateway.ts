import { readFile } from "node:fs/promises";
import { databaseErrorToAppError, openDatabase } from "@workflow/db";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient, createTokenMinter, createTokenSigner } from "@workflow/rpc";
import { ROUTES } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { createApp } from "../../services/gateway/src/app.ts";
import { createAuthenticator } from "../../services/gateway/src/auth/authenticator.ts";
import type { Authenticator } from "../../services/gateway/src/auth/authenticator.ts";
import { Compressor } from "../../services/gateway/src/http/compression.ts";
import { createCompanyConnections } from "../../services/gateway/src/http/company-connections.ts";
import { AnswerHeaders } from "../../services/gateway/src/http/answer-headers.ts";
import { listenHttp } from "../../services/gateway/src/http/server.ts";
import { createProxyTrust } from "../../services/gateway/src/http/trusted-proxies.ts";

const CONNECTIONS_MAX = 1_000;

/** The first message for the process. */
const gatewayStart = z.object({
  databaseUrl: z.string(),
  workflowsGrpcAddress: z.string(),
  signingKeyFile: z.string(),
  apiKey: z.string(),
  /** Whether each request is authenticated; otherwise all count as requests with the API key. */
  authenticates: z.boolean(),
});

/** A gateway of the benchmark's own, which knows only the workflows service. */
export type GatewayStart = z.input<typeof gatewayStart>;

process.once("disconnect", () => process.exit());
process.once("message", (message) => {
  void start(gatewayStart.parse(message));
});

async function start(options: z.output<typeof gatewayStart>): Promise<void> {
  const database = await openDatabase({
    connectionUri: options.databaseUrl,
    role: "workflow_gateway",
    maxConnections: 2,
    applicationName: "bench-gateway",
  });
  const privateKeyPem = await readFile(options.signingKeyFile, "utf8");
  const workflows = createRpcClient(WorkflowsServiceService, {
    address: options.workflowsGrpcAddress,
    minter: createTokenMinter(createTokenSigner({ issuer: "gateway", privateKeyPem }), {
      audience: "workflows",
    }),
  });
  const authenticator = createAuthenticator({
    database,
    onKeyUse: () => {},
    onSessionUse: () => {},
    toAppError: databaseErrorToAppError,
  });
  const requests = {
    proxies: createProxyTrust(0),
    answerHeaders: new AnswerHeaders([]),
    compressor: new Compressor(),
  };
  const app = createApp({
    routes: ROUTES,
    authenticator: options.authenticates
      ? authenticator
      : await letEverybodyIn(authenticator, options.apiKey),
    rateLimits: { admit: () => {}, admitInbound: () => {} },
    database,
    invalidateAccess: () => {},
    // Nobody signs in, and no list is paged.
    signIns: Object.create(null),
    cursors: Object.create(null),
    largeAnswers: Object.create(null),
    backends: Object.assign(Object.create(null), { workflows }),
    stopping: new AbortController().signal,
    readiness: { missing: async () => [], setStopping: () => {} },
    report: () => {},
    requests,
    // Nobody connects an account.
    publicUrl: undefined,
    callbacks: { admit: () => {} },
    connectPage: { authorizations: Object.create(null), limits: { admit: () => {} } },
    docsLimits: { admit: () => {} },
    inbound: (_request, _response, next) => next(),
    mcp: (_request, _response, next) => next(),
    connections: createCompanyConnections({ total: CONNECTIONS_MAX, perTenant: CONNECTIONS_MAX }),
  });
  const { port } = await listenHttp(app, {
    host: "127.0.0.1",
    port: 0,
    connectionsMax: CONNECTIONS_MAX,
    requests,
  });
  process.send?.({ pid: process.pid, url: `http://127.0.0.1:${port}` });
}

async function letEverybodyIn(
  authenticator: Authenticator,
  apiKey: string,
): Promise<Authenticator> {
  const caller = authenticator.authenticate({ apiKey, sessionToken: undefined });
  await caller;
  return { authenticate: () => caller };
}
