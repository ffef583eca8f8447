import { Turns } from "@workflow/async";
import { isId, isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type {
  ReadRunPayloadsRequest,
  ReadRunPayloadsResponse,
  RunPayload,
  RunRef,
} from "@workflow/proto/runs/v1/run_events";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { readPayloads } from "../store/read-payloads.ts";
import type { PayloadRow } from "../store/read-payloads.ts";

const RUNS_MAX = 100;
/** Most bytes of one run's payloads (D64). */
const RUN_BYTES_MAX = 256 * 1024;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Answers that a process makes at the same time. Each is in memory some three times. */
const AT_A_TIME = 2;

const NOT_FOUND: RunPayload = {
  found: false,
  tooLarge: false,
  inputJson: "",
  outputJson: "",
  postponed: false,
};

/** Returns inputs and outputs of runs to the service that delivers their events. */
export function readRunPayloads({
  database,
}: ServiceContext): UnaryMethod<ReadRunPayloadsRequest, ReadRunPayloadsResponse> {
  const turns = new Turns({ perTenant: AT_A_TIME });
  return rpc({
    scopes: "internal:run_events",
    async handler({ runs, bytesMax }, { identity, signal }) {
      if (runs.length < 1 || runs.length > RUNS_MAX) {
        throw badRequest("runs", `must have 1 to ${RUNS_MAX} entries`);
      }
      if (bytesMax < 1 || bytesMax > RUN_BYTES_MAX) {
        throw badRequest("bytes_max", `must be between 1 and ${RUN_BYTES_MAX}`);
      }
      const known = runs.filter(({ companyId, runId }) => isUuid(companyId) && isId("run_", runId));
      const leave = await turns.take(identity.principal.id, signal);
      try {
        const bounds = { runBytesMax: bytesMax, bytesMax: ANSWER_BYTES_MAX };
        const rows = await readPayloads(database, known, bounds);
        const found = new Map(rows.map((row) => [keyOf(row), row]));
        return { payloads: runs.map((run) => toPayload(found.get(keyOf(run)))) };
      } finally {
        leave();
      }
    },
  });
}

function keyOf({ companyId, runId }: RunRef): string {
  return `${companyId.toLowerCase()} ${runId}`;
}

function toPayload(row: PayloadRow | undefined): RunPayload {
  if (row === undefined) return NOT_FOUND;
  const { fits, input, output } = row;
  return {
    found: true,
    tooLarge: !fits,
    inputJson: input ?? "",
    outputJson: output ?? "",
    postponed: fits && input === null,
  };
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
