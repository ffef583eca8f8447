import { status as Code } from "@grpc/grpc-js";
import type { AppError } from "@workflow/errors";
import type { Level, Logger } from "pino";
import type { CallStart } from "./context.ts";

/** The facts of a finished request, for metrics. */
export interface RequestOutcome {
  /** The method, for example `workflow.runs.v1.RunsService/GetRun`. */
  rpc: string;
  /** The name of the gRPC status, for example `NOT_FOUND`. */
  code: string;
  durationMs: number;
}

/** Reports a finished request; called exactly once for each. */
export type ReportRequest = (
  start: CallStart,
  companyId: string | undefined,
  code: Code,
  error?: AppError,
) => void;

/** Mistakes of callers are no warnings. */
const LEVELS: Readonly<Partial<Record<Code, Level>>> = {
  [Code.OK]: "debug",
  [Code.INTERNAL]: "error",
  [Code.UNKNOWN]: "error",
  [Code.DATA_LOSS]: "error",
  [Code.UNAVAILABLE]: "warn",
  [Code.DEADLINE_EXCEEDED]: "warn",
  [Code.RESOURCE_EXHAUSTED]: "warn",
};

/**
 * The codes that are a server's errors; the others are a caller's (semantic conventions of OpenTelemetry).
 */
const FAULTS: ReadonlySet<Code> = new Set([
  Code.UNKNOWN,
  Code.DEADLINE_EXCEEDED,
  Code.UNIMPLEMENTED,
  Code.INTERNAL,
  Code.UNAVAILABLE,
  Code.DATA_LOSS,
]);

/** Writes one line for each request: the method, the caller and the outcome; never contents. */
export function createRequestReport(
  logger: Logger,
  onRequest: ((outcome: RequestOutcome) => void) | undefined,
): ReportRequest {
  return (start, companyId, code, error) => {
    const level = LEVELS[code] ?? "info";
    const isLogged = logger.isLevelEnabled(level);
    start.span?.set({ "rpc.grpc.status_code": code, "workflow.company.id": companyId });
    start.span?.end(FAULTS.has(code) ? (Code[code] ?? "UNKNOWN") : undefined);
    if (!isLogged && onRequest === undefined) return;

    const durationMs = Math.round((performance.now() - start.startedAt) * 100) / 100;
    const outcome = { rpc: start.rpc, code: Code[code] ?? "UNKNOWN", durationMs };
    if (isLogged) {
      const { requestId, span } = start;
      const trace = span === undefined ? {} : { trace_id: span.traceId };
      const line = { requestId, ...trace, company: companyId, ...outcome };
      logger[level]({ ...line, ...describe(error, level) }, "request");
    }
    try {
      onRequest?.(outcome);
    } catch (hookError) {
      logger.error({ err: hookError }, "request hook failed");
    }
  };
}

/** A fault of ours is logged with its cause; other errors with their reason and internal note. */
function describe(error: AppError | undefined, level: Level): object {
  if (error === undefined) return {};
  const { reason, internal } = error;
  return level === "error" ? { reason, internal, err: error.cause ?? error } : { reason, internal };
}
