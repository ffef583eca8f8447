import { fileURLToPath } from "node:url";
import { createScope } from "@workflow/async";
import type { Loop, Scope } from "@workflow/async";
import { createAuditTrail } from "@workflow/audit";
import { createCursorCodec, databaseErrorToAppError, openDatabase } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createExpressionPool } from "@workflow/expressions";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import {
  createRevokedTokens,
  createRpcClient,
  createRpcServer,
  createTokenMinter,
  createTokenVerifier,
} from "@workflow/rpc";
import type { RpcServer, RpcTls, TokenSigner, IssuerKeys } from "@workflow/rpc";
import { rpcRequestMetrics, watchPool } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServiceContext } from "./context.ts";
import { createDeploymentCheck } from "./deployment/check-deployment.ts";
import { createHandOver } from "./deployment/hand-over.ts";
import type { PushDependencies } from "./deployment/push-deployment.ts";
import { repairDeployments } from "./deployment/repair-deployments.ts";
import type { AgentModels } from "./domain/agent-models.ts";
import { activateWorkflow } from "./rpc/activate-workflow.ts";
import { archiveWorkflow } from "./rpc/archive-workflow.ts";
import { cloneWorkflow } from "./rpc/clone-workflow.ts";
import { compareVersions } from "./rpc/compare-versions.ts";
import { createDashboard } from "./rpc/create-dashboard.ts";
import { createWidget } from "./rpc/create-widget.ts";
import { createWorkflow } from "./rpc/create-workflow.ts";
import { deleteDashboard } from "./rpc/delete-dashboard.ts";
import { deleteWidget } from "./rpc/delete-widget.ts";
import { getDashboard } from "./rpc/get-dashboard.ts";
import { getVersion } from "./rpc/get-version.ts";
import { getWidgetQuery } from "./rpc/get-widget-query.ts";
import { getTool } from "./rpc/get-tool.ts";
import { getWorkflow } from "./rpc/get-workflow.ts";
import { importWorkflow } from "./rpc/import-workflow.ts";
import { listDashboards } from "./rpc/list-dashboards.ts";
import { listTools } from "./rpc/list-tools.ts";
import { listVersions } from "./rpc/list-versions.ts";
import { listWorkflows } from "./rpc/list-workflows.ts";
import { pauseWorkflow } from "./rpc/pause-workflow.ts";
import { planWorkflow } from "./rpc/plan-workflow.ts";
import { rollbackWorkflow } from "./rpc/rollback-workflow.ts";
import { saveCanvas } from "./rpc/save-canvas.ts";
import { saveDashboardLayout } from "./rpc/save-dashboard-layout.ts";
import { updateDashboard } from "./rpc/update-dashboard.ts";
import { updateWidget } from "./rpc/update-widget.ts";
import { updateWorkflow } from "./rpc/update-workflow.ts";
import { getCursorKey } from "./store/cursor-key.ts";
import { createWorkflowReads } from "./store/workflow-reads.ts";
import { createDefinitionChecker } from "./validation/definition-checker.ts";

/** The dependencies of the service. */
export interface WorkflowsServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** The address to listen on: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** The address of the runs service. */
  runsGrpcAddress: string;
  /** The keys whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Signs the service's own tokens for the runs service. */
  tokenSigner: TokenSigner;
  /** The bus for the service's events. */
  bus: EventBus;
  /** The model of each AI provider. */
  agentModels: AgentModels;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  logger: Logger;
  /** The registry of request metrics; without one none are collected. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; without one there are none. */
  tracer?: Tracer | undefined;
}

/** A running service. */
export interface RunningService {
  /** The address that it listens on. */
  grpcAddress: string;
  /** Finishes running calls and releases everything. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_workflows";
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
const REPAIR_INTERVAL_MS = 1_000;
/**
 * Processes that check the syntax of expressions: one that a hostile company may keep busy, and one
 * for the others.
 */
const PARSING_PROCESSES = 2;

/**
 * Starts the control plane. The runs service need not be reachable yet; hand-overs wait for it.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the address is
 * taken; nothing stays open then
 */
export async function startWorkflowsService(
  options: WorkflowsServiceOptions,
): Promise<RunningService> {
  const { logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: DATABASE_ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-workflows",
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    scope.defer(watchPool(options.metricsRegistry, "workflows", database));
    const { bus, metricsRegistry } = options;
    const outbox = { database, schema: "workflows", bus, logger, metricsRegistry };
    const relay = createOutboxRelay({ ...outbox, stream: "workflows" });
    scope.defer(() => relay.stop());
    const audit = createAuditTrail(outbox);
    scope.defer(() => audit.stop());
    const expressions = createExpressionPool({
      logger,
      metricsRegistry,
      name: "workflows",
      processes: PARSING_PROCESSES,
    });
    scope.defer(() => expressions.close());
    const cursors = createCursorCodec(await getCursorKey(database));
    const deployments = createRpcClient(DeploymentsServiceService, {
      address: options.runsGrpcAddress,
      minter: createTokenMinter(options.tokenSigner, { audience: "runs" }),
      tls: options.grpcTls,
      tracer: options.tracer,
    });
    scope.defer(() => deployments.close());
    const repair = startRepair({ database, deployments }, logger, scope);
    const handOver = createHandOver({ database, deployments }, () => repair.wake());
    const server = createServer(
      {
        database,
        reads: createWorkflowReads(database),
        cursors,
        handOver,
        audit,
        checker: createDefinitionChecker(expressions, createDeploymentCheck(deployments, logger)),
        agentModels: options.agentModels,
        onEvents: () => relay.wake(),
      },
      options,
    );
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}

/** The loop that hands over what requests and killed processes left behind. */
function startRepair(dependencies: PushDependencies, logger: Logger, scope: Scope): Loop {
  const repair = scope.loop({
    name: "repair-deployments",
    intervalMs: REPAIR_INTERVAL_MS,
    logger,
    run: (signal) => repairDeployments(dependencies, logger, signal),
  });
  return repair;
}

function createServer(context: ServiceContext, options: WorkflowsServiceOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "workflows",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(context.database, "workflows"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    tracer: options.tracer,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  server.add(WorkflowsServiceService, {
    createWorkflow: createWorkflow(context),
    getWorkflow: getWorkflow(context),
    listWorkflows: listWorkflows(context),
    updateWorkflow: updateWorkflow(context),
    archiveWorkflow: archiveWorkflow(context),
    activateWorkflow: activateWorkflow(context),
    pauseWorkflow: pauseWorkflow(context),
    planWorkflow: planWorkflow(context),
    saveCanvas: saveCanvas(context),
    cloneWorkflow: cloneWorkflow(context),
    importWorkflow: importWorkflow(context),
    listTools: listTools(context),
    getTool: getTool(context),
    listVersions: listVersions(context),
    getVersion: getVersion(context),
    compareVersions: compareVersions(context),
    rollbackWorkflow: rollbackWorkflow(context),
  });
  server.add(DashboardsServiceService, {
    createDashboard: createDashboard(context),
    getDashboard: getDashboard(context),
    listDashboards: listDashboards(context),
    updateDashboard: updateDashboard(context),
    deleteDashboard: deleteDashboard(context),
    createWidget: createWidget(context),
    updateWidget: updateWidget(context),
    deleteWidget: deleteWidget(context),
    saveDashboardLayout: saveDashboardLayout(context),
    getWidgetQuery: getWidgetQuery(context),
  });
  return server;
}
