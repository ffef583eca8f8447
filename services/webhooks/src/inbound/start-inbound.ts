import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import { TriggersServiceService } from "@workflow/proto/runs/v1/triggers";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { WebhooksServiceOptions } from "../options.ts";
import { makePartitions } from "../store/partitions.ts";
import { startInboundServer } from "./http/inbound-server.ts";
import { AccountFinder } from "./intake/account-finder.ts";
import { Backlog } from "./intake/backlog.ts";
import { EventIntake } from "./intake/event-intake.ts";
import { EventStarter } from "./intake/event-starter.ts";
import { Sweeper } from "./intake/sweeper.ts";
import { createRoutes } from "./routes.ts";

const PARTITIONS_INTERVAL_MS = 60 * 60 * 1000;

/** The parts of inbound webhooks that the rest of the service needs. */
export interface RunningInbound {
  /** The address that accepts inbound webhooks. */
  httpAddress: string;
  backlog: Backlog;
  /** Notifies the sweeper that an event is due. */
  wakeSweeper(): void;
}

/** Accepts inbound webhooks until the scope closes. */
export async function startInbound(
  options: WebhooksServiceOptions,
  database: Database,
  scope: Scope,
): Promise<RunningInbound> {
  const { logger, grpcTls: tls, inboundSecrets: secrets = {}, requireSignature = false } = options;
  const triggers = createRpcClient(TriggersServiceService, {
    address: options.runsGrpcAddress,
    tls,
    minter: createTokenMinter(options.tokenSigner, { audience: "runs" }),
    tracer: options.tracer,
  });
  scope.defer(() => triggers.close());
  const accounts = createRpcClient(AccountsServiceService, {
    address: options.integrationsGrpcAddress,
    tls,
    minter: createTokenMinter(options.tokenSigner, { audience: "integrations" }),
    tracer: options.tracer,
  });
  scope.defer(() => accounts.close());

  const starter = new EventStarter(database, triggers, logger);
  const finder = new AccountFinder(accounts);
  const backlog = new Backlog(database, logger, scope);
  const sweeper = new Sweeper({ database, accounts: finder, starter, logger, scope });
  scope.loop({
    name: "webhooks-partitions",
    intervalMs: PARTITIONS_INTERVAL_MS,
    logger,
    run: () => makePartitions(database),
  });

  const intake = new EventIntake({ database, accounts: finder, starter, backlog, logger });
  scope.defer(() => intake.stop());
  const routes = createRoutes({ intake, accounts, secrets, requireSignature, logger });
  const httpAddress = await startInboundServer(
    {
      address: options.httpAddress,
      tls: options.httpTls,
      stopDelayMs: options.stopDelayMs ?? 0,
      routes,
      tracer: options.tracer,
      logger,
    },
    scope,
  );
  return { httpAddress, backlog, wakeSweeper: () => sweeper.wake() };
}
