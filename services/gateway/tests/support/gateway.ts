import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import pino from "pino";
import { Registry } from "prom-client";
import { createCompany } from "../../src/admin/index.ts";
import type { CreatedCompany } from "../../src/admin/index.ts";
import { startGatewayService } from "../../src/service.ts";
import type { GatewayServiceOptions, RunningGateway } from "../../src/service.ts";
import { startBackendDoubles } from "./backends.ts";
import type { BackendDoubles } from "./backends.ts";

/** A gateway on a port of its own, with its database and doubles of the services behind it. */
export interface TestGateway {
  gateway: RunningGateway;
  url: string;
  database: Database;
  /** A superuser's address of the database. */
  databaseUri: string;
  company: CreatedCompany;
  backends: BackendDoubles;
  bus: EventBus;
  registry: Registry;
  /** The lines of the gateway's log. */
  logLines: Record<string, unknown>[];
  close(): Promise<void>;
}

/** An answer, its body read and parsed. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests state what they expect of it.
  body: unknown;
}

export async function startTestGateway(
  options: Partial<GatewayServiceOptions> = {},
): Promise<TestGateway> {
  const testDatabase = await createTestDatabase();
  const database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    role: "workflow_gateway",
    maxConnections: 2,
    applicationName: "gateway-test",
  });
  const tokens = createTestTokens();
  const logLines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void logLines.push(JSON.parse(line)) });
  const backends = await startBackendDoubles(tokens.publicKeys, pino({ level: "silent" }));
  const registry = new Registry();
  const bus = createInProcessEventBus({ consumers: {} });
  const gateway = await startGatewayService({
    databaseUrl: testDatabase.connectionUri,
    databasePoolSize: 4,
    host: "127.0.0.1",
    port: 0,
    workflowsGrpcAddress: backends.workflowsAddress,
    runsGrpcAddress: backends.runsAddress,
    // Routes of tables are tested with the real service, in tests/e2e.
    tablesGrpcAddress: backends.integrationsAddress,
    integrationsGrpcAddress: backends.integrationsAddress,
    webhooksGrpcAddress: backends.integrationsAddress,
    webhooksHttpAddress: "127.0.0.1:1",
    bus,
    tokenSigner: tokens.signerOf("gateway"),
    logger,
    metricsRegistry: registry,
    ...options,
  });
  const company = await createCompany(database, {
    name: "Acme",
    email: "owner@acme.example",
    password: "correct horse",
  });
  return {
    gateway,
    url: `http://127.0.0.1:${gateway.port}`,
    database,
    databaseUri: testDatabase.connectionUri,
    company,
    backends,
    bus,
    registry,
    logLines,
    close: async () => {
      await gateway.stop();
      await bus.close();
      await backends.close();
      await database.end();
      await testDatabase.close();
    },
  };
}

/** Sends a request with the company's API key unless told otherwise. */
export async function call(
  { url, company }: Pick<TestGateway, "url" | "company">,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; key?: string | null } = {},
): Promise<Answer> {
  const { body, headers = {}, key = company.apiKey } = options;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === null ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: toBody(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function toBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
