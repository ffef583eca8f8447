import type { RunEvent, WorkflowClient } from "@workflow/client";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { duration, plain } from "../../output/output.ts";
import type { Output } from "../../output/output.ts";

/** Statuses that nothing follows. */
const ENDS = new Set(["completed", "failed", "cancelled", "timeout"]);
const MARKS = { success: "✓", error: "✗", skipped: "-" } as const;

/**
 * Follows a run to its end: a line for each step as it ends, and one for each status.
 *
 * @throws CliError with exit code 1 when the run did not complete
 */
export async function tailRun(
  { out, signal }: Context,
  client: WorkflowClient,
  runId: string,
): Promise<void> {
  let status = "";
  for await (const event of client.runs.events(runId, { signal })) {
    if (out.isJson) out.jsonLine(event);
    else if (event.type === "step" || event.data.status !== status) showEvent(out, event);
    if (event.type === "run") ({ status } = event.data);
  }
  if (status === "completed") return;
  if (!ENDS.has(status))
    throw new CliError("The stream of events has ended before the run.", EXIT.unreachable);
  throw new CliError(`The run ended with the status ${status}.`, EXIT.refused, {
    hints: [`See why: workflowctl logs ${runId}`],
  });
}

function showEvent(out: Output, event: RunEvent): void {
  if (event.type === "step") {
    const { path, type, status, durationMs, error, attempt, reused } = event.data;
    const more = [
      duration(durationMs),
      ...(attempt > 1 ? [`attempt ${attempt}`] : []),
      ...(reused === true ? ["reused"] : []),
      ...(error === null ? [] : [`${error.code}: ${error.message}`]),
    ];
    const mark = out.paint(STYLES[status], MARKS[status]);
    return out.line(
      `${mark} ${plain(path)}  ${out.paint("gray", type)}  ${more.map(plain).join("  ")}`,
    );
  }
  const { status, durationMs, error } = event.data;
  const time = durationMs === null ? "" : `  ${duration(durationMs)}`;
  const why = error === null ? "" : `  ${plain(`${error.code}: ${error.message}`)}`;
  out.line(`${out.status(status)}${time}${why}`);
}

const STYLES = { success: "green", error: "red", skipped: "gray" } as const;
