import { fileURLToPath } from "node:url";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createAuditTrail } from "@workflow/audit";
import { databaseErrorToAppError, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import {
  createRevokedTokens,
  createRpcServer,
  createTokenVerifier,
  LARGE_MESSAGE_BYTES_MAX,
} from "@workflow/rpc";
import type { RpcServer, RpcTls, IssuerKeys } from "@workflow/rpc";
import { rpcRequestMetrics, watchPool } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { CompanyConnections } from "./company-connections.ts";
import type { ServiceContext } from "./context.ts";
import { prepareSpill } from "./memory/spill-file.ts";
import type { SpillPlace } from "./memory/spill-file.ts";
import { aggregateRows } from "./rpc/aggregate-rows.ts";
import { batchRows } from "./rpc/batch-rows.ts";
import { createFolder } from "./rpc/create-folder.ts";
import { createTable } from "./rpc/create-table.ts";
import { deleteRow } from "./rpc/delete-row.ts";
import { deleteTable } from "./rpc/delete-table.ts";
import { ENCODED_ROWS_SERVICE } from "./rpc/encoded-figures.ts";
import { exportRows } from "./rpc/export-rows.ts";
import { getRow } from "./rpc/get-row.ts";
import { getTable } from "./rpc/get-table.ts";
import { importTable } from "./rpc/import-table.ts";
import { insertRow } from "./rpc/insert-row.ts";
import { insertRows } from "./rpc/insert-rows.ts";
import { listDistinctValues } from "./rpc/list-distinct-values.ts";
import { listFolders } from "./rpc/list-folders.ts";
import { listTables } from "./rpc/list-tables.ts";
import { moveTable } from "./rpc/move-table.ts";
import { queryRows } from "./rpc/query-rows.ts";
import { updateRow } from "./rpc/update-row.ts";
import { updateTable } from "./rpc/update-table.ts";
import { createTableHeads, Snapshots } from "./snapshots/index.ts";
import { forgetOldDeletions } from "./store/deletions.ts";
import { forgetOldKeys } from "./store/write-keys.ts";
import { TableThreads, threadCount } from "./threads/index.ts";
import { RowWriter } from "./writes/index.ts";

/** What the service needs from its surroundings. */
export interface TablesServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** Where its events go to. */
  bus: EventBus;
  /** Memory for columns that it keeps, default 256 MiB. */
  cacheBytesMax?: number;
  /** What the JSON of a table's rows may have together, in bytes of UTF-8; default 256 MiB. */
  tableBytesMax?: number | undefined;
  /** The same of all tables of a company; default 10 GiB. */
  companyTableBytesMax?: number | undefined;
  /** Threads that hold these columns; 0, the default, is one for each core but one, from 1 to 4. */
  threads?: number;
  /** What questions of one company may use of one thread at a time, by default all of its memory. */
  companyBytesMax?: number | undefined;
  /** What V8 may have for the objects of one of them, in MiB; by default what its columns may need. */
  threadHeapMb?: number | undefined;
  /** Where columns go for which memory has no room; by default nowhere. */
  spill?: SpillPlace | undefined;
  /** How long questions about a table are refused that has ended one of them the first time, by default 1 s. */
  threadRefusalMs?: number | undefined;
  /** Where to listen: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  logger: Logger;
  /** Where request metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of traces that are recorded; without one there are none. */
  tracer?: Tracer | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address it is really bound to. */
  grpcAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_tables";
const CACHE_BYTES_MAX = 256 * 1024 * 1024;
const TABLE_BYTES_MAX = 256 * 1024 * 1024;
const COMPANY_TABLE_BYTES_MAX = 10 * 1024 * 1024 * 1024;
const FORGET_INTERVAL_MS = 60_000;
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/**
 * Starts the service.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the address is taken;
 * nothing stays open then
 */
export async function startTablesService(options: TablesServiceOptions): Promise<RunningService> {
  const { bus, logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: DATABASE_ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-tables",
      // Columns in memory may rest on whatever was confirmed.
      durableCommits: true,
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    scope.defer(watchPool(options.metricsRegistry, "tables", database));
    const { metricsRegistry } = options;
    const outbox = { database, schema: "tables", bus, logger, metricsRegistry };
    const audit = createAuditTrail(outbox);
    scope.defer(() => audit.stop());
    const rowEvents = createOutboxRelay({ ...outbox, stream: "tables" });
    scope.defer(() => rowEvents.stop());
    const connections = new CompanyConnections(database);
    const heads = createTableHeads(connections);
    const reader = await startThreads(options, connections, scope);
    const snapshots = new Snapshots({ reader, heads, connections });
    const rowBytesMax = {
      table: options.tableBytesMax ?? TABLE_BYTES_MAX,
      company: options.companyTableBytesMax ?? COMPANY_TABLE_BYTES_MAX,
    };
    const onEvents = () => rowEvents.wake();
    const rowWriter = new RowWriter({ connections, heads, rowBytesMax, onEvents });
    startForgetting(database, logger, scope);
    const context = {
      database,
      connections,
      audit,
      rowEvents,
      snapshots,
      rowWriter,
      rowBytesMax,
      logger,
    };
    const server = createServer(context, options);
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}

/** Starts the threads that hold columns, and makes the place on disk for what they have no room for. */
async function startThreads(
  options: TablesServiceOptions,
  connections: CompanyConnections,
  scope: Scope,
): Promise<TableThreads> {
  const { cacheBytesMax = CACHE_BYTES_MAX, spill } = options;
  if (spill !== undefined) await prepareSpill(spill);
  const threads = new TableThreads({
    connections,
    threads: threadCount(options.threads),
    cacheBytesMax,
    companyBytesMax: options.companyBytesMax,
    heapMb: options.threadHeapMb,
    spill,
    refusalMs: options.threadRefusalMs,
    metricsRegistry: options.metricsRegistry,
    logger: options.logger,
  });
  scope.defer(() => threads.stop());
  return threads;
}

/** The loop that clears away what only readers of long ago would need. */
function startForgetting(database: Database, logger: Logger, scope: Scope): void {
  scope.loop({
    name: "forget-old-deletions",
    intervalMs: FORGET_INTERVAL_MS,
    logger,
    run: () => forgetOldDeletions(database),
  });
  scope.loop({
    name: "forget-old-keys",
    intervalMs: FORGET_INTERVAL_MS,
    logger,
    run: () => forgetOldKeys(database),
  });
}

function createServer(context: ServiceContext, options: TablesServiceOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "tables",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(context.database, "tables"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    // A page may have a hundred rows of 1 MiB.
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    tracer: options.tracer,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  server.add(TablesServiceService, {
    createTable: createTable(context),
    getTable: getTable(context),
    listTables: listTables(context),
    updateTable: updateTable(context),
    deleteTable: deleteTable(context),
    importTable: importTable(context),
    exportRows: exportRows(context),
    listFolders: listFolders(context),
    createFolder: createFolder(context),
    moveTable: moveTable(context),
  });
  server.add(ENCODED_ROWS_SERVICE, {
    queryRows: queryRows(context),
    listDistinctValues: listDistinctValues(context),
    aggregateRows: aggregateRows(context),
    getRow: getRow(context),
    insertRow: insertRow(context),
    insertRows: insertRows(context),
    updateRow: updateRow(context),
    deleteRow: deleteRow(context),
    batchRows: batchRows(context),
  });
  return server;
}
