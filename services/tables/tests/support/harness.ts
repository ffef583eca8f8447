import { inspect } from "node:util";
import { newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createTestDatabase, createTestTokens, logEvents } from "@workflow/testkit";
import { pino } from "pino";
import { startTablesService } from "../../src/service.ts";
import type { RunningService, TablesServiceOptions } from "../../src/service.ts";

/** Both services of one process. */
export interface Clients {
  tables: RpcClient<typeof TablesServiceService>;
  rows: RpcClient<typeof RowsServiceService>;
}

/** The real service on a database of its own. */
export interface Harness extends Clients {
  /** As superuser, to look behind the API. */
  database: Database;
  databaseUri: string;
  bus: EventBus;
  /** Everything that services have logged, at every level. */
  logged(): string;
  /** Starts one more service on the same database. */
  start(more?: Partial<TablesServiceOptions>): Promise<RunningService>;
  connect(service: RunningService): Clients;
  close(): Promise<void>;
}

export async function startHarness(options: Partial<TablesServiceOptions> = {}): Promise<Harness> {
  const testDatabase = await createTestDatabase();
  const databaseUri = testDatabase.connectionUri;
  const tokens = createTestTokens();
  const minter = tokens.minterTo("tables");
  const bus = createInProcessEventBus({ consumers: {} });
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line) => void lines.push(line) });
  const started: RunningService[] = [];
  const opened: { close(): void }[] = [];
  const start = async (more: Partial<TablesServiceOptions> = {}): Promise<RunningService> => {
    const service = await startTablesService({
      databaseUrl: databaseUri,
      databasePoolSize: 10,
      bus,
      grpcAddress: "127.0.0.1:0",
      tokenPublicKeys: tokens.publicKeys,
      // Reading the protos takes a quarter of a start.
      grpcReflection: false,
      logger,
      ...options,
      ...more,
    });
    started.push(service);
    return service;
  };
  const connect = ({ grpcAddress: address }: RunningService): Clients => {
    // Tests call in great numbers at once, and a busy machine takes its time.
    const options = { address, minter, defaultTimeoutMs: 60_000 };
    const tables = createRpcClient(TablesServiceService, options);
    const rows = createRpcClient(RowsServiceService, options);
    opened.push(tables, rows);
    return { tables, rows };
  };
  const clients = connect(await start());
  const database = await openDatabase({
    connectionUri: databaseUri,
    applicationName: "test",
    maxConnections: 3,
  });
  await logEvents(database, "tables");
  return {
    ...clients,
    database,
    databaseUri,
    bus,
    logged: () => lines.join(""),
    start,
    connect,
    async close() {
      for (const each of opened) each.close();
      for (const service of started) await service.stop();
      await bus.close();
      await database.end();
      await testDatabase.close();
    },
  };
}

/** A caller of a company of its own that may read and write. */
export function newIdentity(
  scopes: readonly string[] = ["workflows:read", "workflows:write"],
): Identity {
  return { companyId: newUuid(), principal: { type: "api_key", id: newUuid() }, scopes };
}

/** The AppError that a call ends with; fails the test when it succeeds. */
export async function errorOf(call: Promise<unknown>): Promise<AppError> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error(`Expected an error, got ${inspect(answer, { maxStringLength: 500 })}`);
}
