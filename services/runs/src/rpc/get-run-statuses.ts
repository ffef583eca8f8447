import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { GetRunStatusesRequest, GetRunStatusesResponse } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listStatuses } from "../store/list-statuses.ts";
import { MESSAGE_STATUS } from "./run-message.ts";

const RUNS_MAX = 1_000;

/** Returns the statuses of several runs of the caller's company. */
export function getRunStatuses({
  database,
}: ServiceContext): UnaryMethod<GetRunStatusesRequest, GetRunStatusesResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler({ runIds }, { identity }) {
      if (runIds.length < 1 || runIds.length > RUNS_MAX) {
        const message = `must have 1 to ${RUNS_MAX} entries`;
        throw new AppError("BAD_REQUEST", `run_ids ${message}.`, {
          violations: [{ path: ["run_ids"], message }],
        });
      }
      const known = runIds.filter((runId) => isId("run_", runId));
      const rows = await listStatuses(database, identity.companyId, known);
      return {
        runs: rows.map(({ id, status }) => ({ runId: id, status: MESSAGE_STATUS[status] })),
      };
    },
  });
}
