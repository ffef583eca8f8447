import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { BulkAction } from "@workflow/proto/runs/v1/runs";
import type {
  BulkRunsRequest,
  BulkRunsResponse,
  BulkRunsResult,
  ListRunsRequest,
} from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { RETRYABLE_STATUSES, statusesBefore } from "../domain/run-status.ts";
import type { RunStatus } from "../domain/run-status.ts";
import { listRuns } from "../store/list-runs.ts";
import { cancelOne } from "./cancel-run.ts";
import { toFailure } from "./failure-message.ts";
import { parseFilter } from "./list-runs.ts";
import { retryOne } from "./retry-run.ts";

const RUNS_MAX = 500;
/** Leaves connections of the pool to other calls. */
const AT_A_TIME = 4;

/** Applies one operation to many runs, each as its own call would. */
export function bulkRuns(context: ServiceContext): UnaryMethod<BulkRunsRequest, BulkRunsResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, rpcContext) {
      const act = parseAction(request.action, context, rpcContext);
      const { companyId } = rpcContext.identity;
      const runIds = await findRunIds(request, context.database, companyId);
      const results = await mapInOrder(runIds, async (runId): Promise<BulkRunsResult> => {
        try {
          // Runs whose turn has not come when the caller goes away are left as they are.
          rpcContext.signal.throwIfAborted();
          return { runId, newRunId: await act(runId), failure: undefined };
        } catch (error) {
          return { runId, newRunId: undefined, failure: toFailure(error, rpcContext) };
        }
      });
      return { results };
    },
  });
}

/** Applies the operation to one run; returns the id of the run that this started, if any. */
type Act = (runId: string) => Promise<string | undefined>;

function parseAction(action: BulkAction, context: ServiceContext, rpcContext: RpcContext): Act {
  switch (action) {
    case BulkAction.CANCEL:
      return async (runId) => {
        await cancelOne(context, runId, rpcContext);
        return undefined;
      };
    case BulkAction.RETRY:
      return async (runId) => (await retryOne(context, runId, rpcContext)).run.id;
    case BulkAction.UNSPECIFIED:
    case BulkAction.UNRECOGNIZED:
    default:
      throw badRequest("action", "must be cancel or retry");
  }
}

async function findRunIds(
  { action, runIds, filter }: BulkRunsRequest,
  database: ServiceContext["database"],
  companyId: string,
): Promise<readonly string[]> {
  if (filter !== undefined) {
    if (runIds.length > 0) throw badRequest("filter", "must not be given together with runIds");
    const eligible = action === BulkAction.RETRY ? RETRYABLE_STATUSES : statusesBefore("cancelled");
    return findFiltered(filter, eligible, database, companyId);
  }
  if (runIds.length < 1 || runIds.length > RUNS_MAX) {
    throw badRequest("runIds", `must have 1 to ${RUNS_MAX} entries, unless there is a filter`);
  }
  return [...new Set(runIds)];
}

/** Only runs to which the operation applies: newer ones to which it does not would hide them for ever. */
async function findFiltered(
  filter: ListRunsRequest,
  eligible: readonly RunStatus[],
  database: ServiceContext["database"],
  companyId: string,
): Promise<string[]> {
  const parsed = parseFilter(filter, companyId);
  if (parsed.workflowId !== null && !isUuid(parsed.workflowId)) return [];
  const statuses =
    parsed.statuses.length === 0
      ? eligible
      : parsed.statuses.filter((status) => eligible.includes(status));
  if (statuses.length === 0) return [];
  const page = { after: null, limit: RUNS_MAX };
  const rows = await listRuns(database, { ...parsed, statuses }, page);
  return rows.map(({ id }) => id);
}

/** Some run at a time; the results are in the order of the items. */
async function mapInOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return results;
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
