import { randomUUID } from "node:crypto";
import { AppError } from "@workflow/errors";
import { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type { FoundConnection } from "@workflow/proto/integrations/v1/accounts";
import { TriggersServiceService } from "@workflow/proto/runs/v1/triggers";
import type { StartTriggeredRunsResult, TriggeringEvent } from "@workflow/proto/runs/v1/triggers";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { IssuerKeys, RpcServer } from "@workflow/rpc";
import { pino } from "pino";

/** The execution plane as far as it starts runs of events: each event once. */
export class RunsDouble {
  /** Every event that arrived, those that came again included. */
  readonly received: TriggeringEvent[] = [];
  readonly started = new Map<string, { workflowId: string; runId: string }[]>();
  /** How many workflows wait for what an event names; one by default. */
  waiting: (event: TriggeringEvent) => number = () => 1;
  /** Why an event cannot start its runs; null when it can. */
  failure: (event: TriggeringEvent) => AppError | null = () => null;
  /** Awaited by every call before it starts its runs. */
  entrance: (events: readonly TriggeringEvent[]) => Promise<void> = async () => {};
  /** Awaited by every call after it has started its runs. */
  gate: (events: readonly TriggeringEvent[]) => Promise<void> = async () => {};
  /** Thrown by every call while set. */
  refusal: AppError | null = null;

  /** How many runs have been started for events of which this holds. */
  runCount(matches: (event: TriggeringEvent) => boolean): number {
    const ids = new Set(this.received.filter(matches).map(({ eventId }) => eventId));
    return [...ids].reduce((sum, id) => sum + (this.started.get(id)?.length ?? 0), 0);
  }

  async start(publicKeys: IssuerKeys): Promise<RpcServer & { address: string }> {
    const server = serverFor("runs", publicKeys);
    server.add(TriggersServiceService, {
      startTriggeredRuns: rpc({
        scopes: "internal:triggers",
        handler: async ({ events }) => {
          this.received.push(...events);
          if (this.refusal !== null) throw this.refusal;
          await this.entrance(events);
          const results = events.map((event) => this.#startOne(event));
          await this.gate(events);
          return { results };
        },
      }),
    });
    return listen(server);
  }

  #startOne(event: TriggeringEvent): StartTriggeredRunsResult {
    const failure = this.failure(event);
    if (failure !== null) {
      const { reason, message } = failure;
      return {
        runs: [],
        failure: { reason, message, violations: [], detailsJson: "", retryAfterMs: 0 },
      };
    }
    const known = this.started.get(event.eventId);
    if (known !== undefined) return { runs: known, failure: undefined };
    const runs = Array.from({ length: this.waiting(event) }, () => ({
      workflowId: randomUUID(),
      runId: `run_${randomUUID()}`,
    }));
    if (runs.length > 0) this.started.set(event.eventId, runs);
    return { runs, failure: undefined };
  }
}

/** Connections as integrations knows them. */
export class AccountsDouble {
  readonly connections: FoundConnection[] = [];
  isAway = false;

  add(provider: string, externalAccountId: string, companyId: string): void {
    const connectionId = `conn_${randomUUID()}`;
    this.connections.push({
      connectionId,
      companyId,
      provider,
      externalAccountId,
      status: "active",
    });
  }

  async start(publicKeys: IssuerKeys): Promise<RpcServer & { address: string }> {
    const server = serverFor("integrations", publicKeys);
    const unused = rpc({
      scopes: "internal:accounts",
      handler: (): Promise<FoundConnection> => {
        throw new AppError("NOT_FOUND", "Connection not found");
      },
    });
    server.add(AccountsServiceService, {
      findAccounts: rpc({
        scopes: "internal:accounts",
        handler: async ({ provider, externalAccountIds }) => {
          if (this.isAway) throw new AppError("UNAVAILABLE", "The service is away.");
          const connections = this.connections.filter(
            (connection) =>
              connection.provider === provider &&
              externalAccountIds.includes(connection.externalAccountId),
          );
          return { connections };
        },
      }),
      findBrokerConnection: unused,
      reportBrokerAuthorization: unused,
      reportBrokerSync: unused,
    });
    return listen(server);
  }
}

function serverFor(audience: "runs" | "integrations", publicKeys: IssuerKeys): RpcServer {
  return createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({ audience, publicKeys, revoked: { has: async () => false } }),
  });
}

async function listen(server: RpcServer): Promise<RpcServer & { address: string }> {
  const { address } = await server.listen("127.0.0.1:0");
  server.setServing(true);
  return Object.assign(server, { address });
}
