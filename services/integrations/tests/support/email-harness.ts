import { randomBytes } from "node:crypto";
import { newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import type { SendEmailRequest, SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createTestDatabase, createTestTokens, startSmtpDouble } from "@workflow/testkit";
import type { SmtpDouble, SmtpDoubleOptions } from "@workflow/testkit";
import { pino } from "pino";
import type { MailOptions } from "../../src/email/mail.ts";
import { startIntegrationsService } from "../../src/service.ts";
import type { IntegrationsServiceOptions, RunningService } from "../../src/service.ts";

export type EmailClient = RpcClient<typeof EmailServiceService>;

/** Services that send e-mail, all on one database of this test file. */
export interface EmailHarness {
  /** The database as its superuser sees it. */
  database: Database;
  /** The log of all services. */
  logged(): string;
  /** Starts a service with these settings and returns a client of it. */
  start(mail: MailOptions, more?: Partial<IntegrationsServiceOptions>): Promise<EmailClient>;
  startServer(options?: SmtpDoubleOptions): Promise<SmtpDouble>;
  /** Starts a mail server and a service that uses it. */
  startSender(
    options?: SmtpDoubleOptions,
    more?: Partial<IntegrationsServiceOptions>,
  ): Promise<Sender>;
  close(): Promise<void>;
}

/** A mail server, a service that uses it, and a company that sends. */
export interface Sender {
  double: SmtpDouble;
  client: EmailClient;
  identity: Identity;
  send: (request: SendEmailRequest) => Promise<SendEmailResponse>;
}

/** The value of EMAIL_FROM. */
export const FROM = "Order Desk <orders@shop.example>";

/** Starts no service yet; `start` does. */
export async function startEmailHarness(): Promise<EmailHarness> {
  const testDatabase = await createTestDatabase();
  const tokens = createTestTokens();
  const minter = tokens.minterTo("integrations");
  const bus = createInProcessEventBus({ consumers: {} });
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line) => void lines.push(line) });
  const kek = randomBytes(32);
  const services: RunningService[] = [];
  const clients: EmailClient[] = [];
  const doubles: SmtpDouble[] = [];
  const { connectionUri } = testDatabase;
  const databaseOptions = { connectionUri, applicationName: "test", maxConnections: 2 };
  const database = await openDatabase(databaseOptions);
  const serviceOptions = {
    databaseUrl: connectionUri,
    databasePoolSize: 3,
    loadKeks: () => Promise.resolve([kek]),
    bus,
    grpcAddress: "127.0.0.1:0",
    tokenPublicKeys: tokens.publicKeys,
    // Reading the protos takes a quarter of a start.
    grpcReflection: false,
    logger,
  };
  const harness: EmailHarness = {
    database,
    logged: () => lines.join(""),
    async start(mail, more = {}) {
      const service = await startIntegrationsService({ ...serviceOptions, mail, ...more });
      services.push(service);
      const { grpcAddress: address } = service;
      const clientOptions = { address, minter, defaultTimeoutMs: 25_000 };
      const client = createRpcClient(EmailServiceService, clientOptions);
      clients.push(client);
      return client;
    },
    async startServer(options) {
      const double = await startSmtpDouble(options);
      doubles.push(double);
      return double;
    },
    async startSender(options, more) {
      const double = await harness.startServer(options);
      const client = await harness.start({ smtpUrl: double.url, emailFrom: FROM }, more);
      const identity = executionPlane();
      const send: Sender["send"] = (request) => client.sendEmail(request, { identity });
      return { double, client, identity, send };
    },
    async close() {
      for (const client of clients) client.close();
      await Promise.all(services.map((service) => service.stop()));
      await Promise.all(doubles.map((double) => double.close()));
      await bus.close();
      await database.end();
      await testDatabase.close();
    },
  };
  return harness;
}

/** The execution plane, for a company of its own. */
export function executionPlane(scopes: readonly string[] = ["internal:effects"]): Identity {
  return { companyId: newUuid(), principal: { type: "service", id: "runs" }, scopes };
}

/** A message that is in order, under a key of its own. */
export function message(more: Partial<SendEmailRequest> = {}): SendEmailRequest {
  return {
    idempotencyKey: newUuid(),
    to: ["bob@example.com"],
    cc: [],
    bcc: [],
    from: undefined,
    replyTo: [],
    subject: "Hello",
    text: "Good morning.",
    html: undefined,
    attachments: [],
    connectionId: undefined,
    runConnectionId: undefined,
    hasTurn: false,
    ...more,
  };
}
