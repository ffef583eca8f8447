import { randomBytes } from "node:crypto";
import { createScope } from "@workflow/async";
import { createInProcessEventBus } from "@workflow/events";
import {
  InboundEventsServiceService,
  InboundEventStatus,
  SignatureVerified,
} from "@workflow/proto/webhooks/v1/events";
import type { InboundEvent } from "@workflow/proto/webhooks/v1/events";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createLogger } from "@workflow/service";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import { startWebhooksService } from "../../src/service.ts";
import type { RunningService, WebhooksServiceOptions } from "../../src/service.ts";
import { AccountsDouble, RunsDouble } from "./backends.ts";

/** An answer over HTTP. */
export interface Answered {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** The service with doubles of the services that it calls. */
export interface InboundHarness extends AsyncDisposable {
  runs: RunsDouble;
  accounts: AccountsDouble;
  databaseUrl: string;
  /** The settings of the service as a process, but for NATS and its own addresses. */
  environment: Record<string, string>;
  httpAddress: string;
  events: RpcClient<InboundEventsServiceService>;
  post(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<Answered>;
  /** The company's events, newest first. */
  list(companyId: string): Promise<readonly InboundEvent[]>;
  get(companyId: string, eventId: string): Promise<InboundEvent>;
  /** Starts one more service on the same database. */
  startAnother(options?: Partial<WebhooksServiceOptions>): Promise<RunningService>;
}

/** A filter that lets every event through. */
export const ANY_EVENT = {
  provider: "",
  status: InboundEventStatus.UNSPECIFIED,
  eventType: "",
  signatureVerified: SignatureVerified.UNSPECIFIED,
  createdAfter: undefined,
  createdBefore: undefined,
};

export function callerOf(companyId: string): { identity: Identity } {
  const principal = { type: "api_key", id: "00000000-0000-7000-8000-000000000001" } as const;
  return {
    identity: { companyId, principal, scopes: ["runs:read", "workflows:execute"] },
  };
}

export async function startInboundHarness(
  options: Partial<WebhooksServiceOptions> = {},
): Promise<InboundHarness> {
  const scope = createScope();
  return scope.guard(async () => {
    const tokens = createTestTokens();
    const database = scope.adopt(await createTestDatabase(), (opened) => opened.close());
    const runs = new RunsDouble();
    const accounts = new AccountsDouble();
    const closeAtOnce = (server: { close(graceMs: number): Promise<void> }) => server.close(0);
    const runsServer = scope.adopt(await runs.start(tokens.publicKeys), closeAtOnce);
    const accountsServer = scope.adopt(await accounts.start(tokens.publicKeys), closeAtOnce);
    const start = (more: Partial<WebhooksServiceOptions> = {}): Promise<RunningService> =>
      startWebhooksService({
        grpcAddress: "127.0.0.1:0",
        httpAddress: "127.0.0.1:0",
        loadKeks: () => Promise.resolve([randomBytes(32)]),
        bus: createInProcessEventBus({ consumers: {} }),
        runsGrpcAddress: runsServer.address,
        integrationsGrpcAddress: accountsServer.address,
        tokenSigner: tokens.signerOf("webhooks"),
        databaseUrl: database.connectionUri,
        databasePoolSize: 6,
        tokenPublicKeys: tokens.publicKeys,
        logger: createLogger({ name: "webhooks", level: "silent" }),
        ...options,
        ...more,
      });
    const service = scope.adopt(await start(), (running) => running.stop());
    const events = createRpcClient(InboundEventsServiceService, {
      address: service.grpcAddress,
      minter: tokens.minterTo("webhooks"),
    });
    scope.defer(() => events.close());
    return {
      runs,
      accounts,
      databaseUrl: database.connectionUri,
      environment: {
        DATABASE_URL: database.connectionUri,
        SECRETS_KEK: randomBytes(32).toString("base64"),
        RUNS_GRPC_ADDR: runsServer.address,
        INTEGRATIONS_GRPC_ADDR: accountsServer.address,
        ...tokens.environment("webhooks"),
      },
      httpAddress: service.httpAddress,
      events,
      post: (path, body, headers) => post(service.httpAddress, path, body, headers),
      async list(companyId) {
        const page = { limit: 100, cursor: "" };
        return (await events.listInboundEvents({ ...ANY_EVENT, page }, callerOf(companyId))).events;
      },
      get: (companyId, eventId) => events.getInboundEvent({ eventId }, callerOf(companyId)),
      startAnother: async (more) => scope.adopt(await start(more), (running) => running.stop()),
      [Symbol.asyncDispose]: () => scope.close(),
    };
  });
}

/** Posts to a route behind `/webhooks/`. */
export async function post(
  httpAddress: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<Answered> {
  const bytes = typeof body === "string" ? body : new Uint8Array(body);
  const response = await fetch(`http://${httpAddress}/webhooks/${path}`, {
    method: "POST",
    body: bytes,
    headers,
  });
  return {
    status: response.status,
    body: toObject(await response.json()),
    headers: response.headers,
  };
}

function toObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("The answer is no object.");
  return Object.fromEntries(Object.entries(value));
}
